/* C = C + A*B, one thread per element of C. Overwrites what it read: the loop between the two lies between two idempotent
 * halves. */
extern "C" __global__ void matrix_multiply_accumulate(const float *a, int a_width, const float *b, int b_width, float *c, int c_width) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = c[row * c_width + column];
#pragma unroll 1
    for (int i = 0; i < a_width; i++) sum += a[row * a_width + i] * b[i * b_width + column];
    c[row * c_width + column] = sum;
}
