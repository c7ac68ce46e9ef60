// Texture objects in one and two dimensions.
extern "C" __global__ void texture_1d(cudaTextureObject_t source, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(source, i) * 2.0f;
}
extern "C" __global__ void texture_2d(cudaTextureObject_t source, float4 *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float4>(source, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void texture_2d_integers(cudaTextureObject_t source, int *out, int width) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<int>(source, (float)x, (float)y);
}
