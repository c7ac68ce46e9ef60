/* Kernels that need what a launch file can say beside plain buffers and scalars. Compiled by:
 * nvcc -ptx -arch=compute_75 -o features.ptx features.cu */
namespace filter {
__constant__ float weights[3];
}
__device__ float offset;
static __device__ int table[8];

struct view {
    int count;
    const float *data;
};

/* Reads one element before and one behind its buffer. */
extern "C" __global__ void weigh(float *out, const float *in, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = filter::weights[0] * in[i - 1] + filter::weights[1] * in[i] + filter::weights[2] * in[i + 1] + offset;
}

extern "C" __global__ void through_struct(float *out, view v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < v.count) out[i] = v.data[i];
}

extern "C" __global__ void through_rows(float *out, const float *const *rows, int columns) {
    out[blockIdx.x * columns + threadIdx.x] = rows[blockIdx.x][threadIdx.x];
}

extern "C" __global__ void look_up(int *out) { out[threadIdx.x] = table[threadIdx.x]; }

template <typename T> __global__ void scale(T *data, T factor) { data[threadIdx.x] *= factor; }
template __global__ void scale<float>(float *data, float factor);
template __global__ void scale<int>(int *data, int factor);

namespace halves {
__global__ void halve(float *data) { data[blockIdx.x] *= 0.5f; }
}

/* Blocks that race. */
extern "C" __global__ void last_wins(int *word) { *word = blockIdx.x; }
extern "C" __global__ void sum_floats(float *sum, const float *data) {
    atomicAdd(sum, data[blockIdx.x * blockDim.x + threadIdx.x]);
}
extern "C" __global__ void sum_integers(int *sum) { atomicAdd(sum, (int)threadIdx.x); }
extern "C" __global__ void tickets(int *counter, int *out) {
    if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(counter, 1);
}
extern "C" __global__ void neighbours(int *data) {
    if (threadIdx.x == 0) data[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x] + 1;
}

/* Warps of a block that race: a barrier is missing between the two halves, and one stands there. */
extern "C" __global__ void reverse_too_early(double *out) {
    __shared__ double tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void reverse_in_time(double *out) {
    __shared__ double tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
/* Each block adds numbers of 64 bits, whose order rounds. */
extern "C" __global__ void sum_doubles(double *sum) { atomicAdd(sum, 1.0 / (1 + blockIdx.x)); }
