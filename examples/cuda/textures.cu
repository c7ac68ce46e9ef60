/* textures: a picture turned by a quarter through a texture object, with coordinates outside of it clamped, and one that
 * lies between its texels, where the texture unit interpolates. */
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.h"

__global__ void turn(cudaTextureObject_t picture, float *turned, int size) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < size && y < size) turned[y * size + x] = tex2D<float>(picture, (float)y + 0.5f, (float)(size - 1 - x) + 0.5f);
}

__global__ void sample(cudaTextureObject_t picture, float *values, int size) {
    const int i = (int)threadIdx.x;
    values[i] = tex2D<float>(picture, (float)i - 1.0f, 0.5f * (float)size); /* from one texel before the first on */
}

int main() {
    const int size = 32;
    std::vector<float> picture(size * size), turned(size * size), values(size);
    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t nearest, between;
    float *device_turned, *device_values;
    for (int i = 0; i < size * size; i++) picture[i] = (float)(i % size) + 100.0f * (float)(i / size);
    CHECK(cudaMallocArray(&array, &channel, size, size));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), size * sizeof(float), size * sizeof(float), size,
                              cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&nearest, &resource, &how, nullptr));
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&between, &resource, &how, nullptr));
    CHECK(cudaMalloc(&device_turned, size * size * sizeof(float)));
    CHECK(cudaMalloc(&device_values, size * sizeof(float)));
    turn<<<dim3(2, 2), dim3(16, 16)>>>(nearest, device_turned, size);
    sample<<<1, size>>>(between, device_values, size);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(turned.data(), device_turned, size * size * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(values.data(), device_values, size * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            if (turned[y * size + x] != picture[(size - 1 - x) * size + y]) {
                printf("turned (%d, %d) is %g\n", x, y, turned[y * size + x]);
                return 1;
            }
    for (int i = 0; i < size; i++) {
        /* texel centres lie at one half: halfway between two texels in x and in y, clamped at the left */
        const float x = fmaxf((float)i - 1.5f, 0.0f), right = x + 100.0f * ((float)size / 2 - 0.5f);
        if (fabsf(values[i] - right) < 0.5f) continue;
        printf("sample %d is %g, not %g\n", i, values[i], right);
        return 1;
    }
    CHECK(cudaDestroyTextureObject(nearest));
    CHECK(cudaDestroyTextureObject(between));
    CHECK(cudaFreeArray(array));
    printf("the turned picture and the samples are right\n");
    return 0;
}
