// Textures with three coordinates, in layers and of a level; surfaces.
extern "C" __global__ void volume(cudaTextureObject_t source, float *out, int n) {
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    out[(z * gridDim.x + y) * n + x] = tex3D<float>(source, x + 0.75f, y + 0.5f, z + 1.0f);
}
extern "C" __global__ void layers(cudaTextureObject_t source, float *out, int n) {
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    out[(z * gridDim.x + y) * n + x] = tex2DLayered<float>(source, x + 0.5f, y + 0.5f, z) + tex2DLod<float>(source, 0.5f, 0.5f, 3.0f);
}
// Every texel of b is that of a turned around, plus what lies left of it.
extern "C" __global__ void surfaces(cudaSurfaceObject_t a, cudaSurfaceObject_t b, int width, int height) {
    const int x = threadIdx.x, y = blockIdx.x;
    const short2 here = surf2Dread<short2>(a, x * 4, y), left = surf2Dread<short2>(a, x * 4 - 4, y, cudaBoundaryModeZero);
    short2 sum;
    sum.x = here.y + left.x;
    sum.y = here.x;
    surf2Dwrite(sum, b, x * 4, height - 1 - y);
}
