/* textures.cu: texture references, layers and surfaces. Each kernel's result is what the host computes. */
#include <cstdio>
#include <cstring>
#include <vector>

enum { WIDTH = 32, HEIGHT = 8, LAYERS = 3 };

texture<float> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> bytes;
texture<float4, cudaTextureType2D, cudaReadModeElementType> quads;

static int wrong;
static void expect(const char *what, double got, double wanted) {
    if (got == wanted) return;
    printf("%s: %g, not %g\n", what, got, wanted);
    wrong++;
}
static void check(const char *what, cudaError_t error) {
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    wrong++;
}

__global__ void read_references(float *out) {
    const int i = (int)threadIdx.x;
    out[i] = tex1Dfetch(line, WIDTH - 1 - i) + tex2D(bytes, (float)i + 0.5f, 1.5f) + tex2D(quads, (float)i, 2.0f).w;
}
__global__ void read_line(float *out) { out[threadIdx.x] = tex1Dfetch(line, (int)threadIdx.x); }
__global__ void read_layers(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex2DLayered<float>(t, (float)threadIdx.x + 0.5f, 3.5f, (int)(threadIdx.x % LAYERS));
}
/* Each texel of every layer becomes twice itself plus its neighbour on the right, 0 beyond the edge. */
__global__ void change_layers(cudaSurfaceObject_t s) {
    const int x = (int)threadIdx.x, y = (int)blockIdx.x, layer = (int)blockIdx.y;
    const float here = surf2DLayeredread<float>(s, 4 * x, y, layer);
    const float next = surf2DLayeredread<float>(s, 4 * x + 4, y, layer, cudaBoundaryModeZero);
    __syncthreads();
    surf2DLayeredwrite(2 * here + next, s, 4 * x, y, layer);
}
template <class T> __global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    T value;
    surf2Dread(&value, from, (int)(sizeof(T) * threadIdx.x), (int)blockIdx.x);
    surf2Dwrite(value, to, (int)(sizeof(T) * (WIDTH - 1 - threadIdx.x)), (int)blockIdx.x, cudaBoundaryModeClamp);
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t object = 0;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    check("surface", cudaCreateSurfaceObject(&object, &resource));
    return object;
}

static void references(float *out) {
    std::vector<unsigned char> dots(WIDTH * HEIGHT);
    std::vector<float4> fours(WIDTH * HEIGHT);
    float *values;
    void *pitched;
    size_t pitch, offset = 1;
    cudaArray_t array;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        dots[(size_t)i] = (unsigned char)(i % WIDTH < 16 ? 0 : 255), fours[(size_t)i] = make_float4(0, 0, 0, (float)i);
    check("line", cudaMallocManaged(&values, 2 * WIDTH * sizeof *values));
    for (int i = 0; i < 2 * WIDTH; i++) values[i] = 1000.0f * (float)i;
    check("pitched", cudaMallocPitch(&pitched, &pitch, WIDTH, HEIGHT));
    check("dots", cudaMemcpy2D(pitched, pitch, dots.data(), WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    check("array", cudaMallocArray(&array, &quads.channelDesc, WIDTH, HEIGHT));
    check("fours", cudaMemcpy2DToArray(array, 0, 0, fours.data(), WIDTH * sizeof(float4), WIDTH * sizeof(float4),
                                       HEIGHT, cudaMemcpyHostToDevice));
    check("line", cudaBindTexture(&offset, line, values, WIDTH * sizeof *values));
    expect("offset", (double)offset, 0);
    check("bytes", cudaBindTexture2D(NULL, bytes, pitched, bytes.channelDesc, WIDTH, HEIGHT, pitch));
    check("quads", cudaBindTextureToArray(quads, array));
    read_references<<<1, WIDTH>>>(out);
    check("references", cudaDeviceSynchronize());
    for (int i = 0; i < WIDTH; i++) expect("reference", out[i], 1000.0 * (WIDTH - 1 - i) + (i >= 16) + 2 * WIDTH + i);
    /* bound anew, behind a launch that has still to run with what was bound before */
    read_line<<<1, WIDTH>>>(out);
    check("line", cudaBindTexture(NULL, line, values + WIDTH));
    read_line<<<1, WIDTH>>>(out + WIDTH);
    check("lines", cudaDeviceSynchronize());
    expect("first line", out[3], 3000), expect("second line", out[WIDTH + 3], 35000);
    check("unbind", cudaUnbindTexture(line));
    expect("no pointer", cudaBindTexture(NULL, line, (void *)16, 64), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void layers(float *out) {
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    std::vector<float> values(WIDTH * HEIGHT * LAYERS), changed(values.size());
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t object;
    cudaMemcpy3DParms copy = {};
    cudaArray_t array;
    for (size_t i = 0; i < values.size(); i++) values[i] = (float)i;
    check("layers", cudaMalloc3DArray(&array, &channel, make_cudaExtent(WIDTH, HEIGHT, LAYERS), cudaArrayLayered));
    copy.srcPtr = make_cudaPitchedPtr(values.data(), WIDTH * sizeof(float), WIDTH, HEIGHT);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(WIDTH, HEIGHT, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    check("copy", cudaMemcpy3D(&copy));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    check("object", cudaCreateTextureObject(&object, &resource, &how, NULL));
    read_layers<<<1, WIDTH>>>(object, out);
    check("read", cudaDeviceSynchronize());
    for (int i = 0; i < WIDTH; i++) expect("layer", out[i], (i % LAYERS * HEIGHT + 3) * WIDTH + i);
    change_layers<<<dim3(HEIGHT, LAYERS), WIDTH>>>(surface_of(array));
    copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(changed.data(), WIDTH * sizeof(float), WIDTH, HEIGHT);
    copy.extent = make_cudaExtent(WIDTH, HEIGHT, LAYERS);
    copy.kind = cudaMemcpyDeviceToHost;
    check("copy back", cudaMemcpy3D(&copy));
    for (size_t i = 0; i < values.size(); i++)
        expect("changed", changed[i], 2 * values[i] + (i % WIDTH == WIDTH - 1 ? 0 : values[i + 1]));
}

/* A picture of texels of T, turned by a surface of 1, 2, 4, 8 or 16 bytes. */
template <class T> static void turned(const char *what) {
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<T>();
    std::vector<T> values(WIDTH * HEIGHT), got(values.size());
    cudaArray_t from, to;
    unsigned char *first = (unsigned char *)values.data();
    for (size_t i = 0; i < values.size() * sizeof(T); i++) first[i] = (unsigned char)(i * 7 % 251);
    check(what, cudaMallocArray(&from, &channel, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    check(what, cudaMallocArray(&to, &channel, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    check(what, cudaMemcpyToArray(from, 0, 0, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    turn<T><<<HEIGHT, WIDTH>>>(surface_of(from), surface_of(to));
    check(what, cudaMemcpyFromArray(got.data(), to, 0, 0, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            expect(what, memcmp(&got[(size_t)(y * WIDTH + x)], &values[(size_t)(y * WIDTH + WIDTH - 1 - x)], sizeof(T)),
                   0);
}

int main() {
    float *out;
    check("out", cudaMallocManaged(&out, 2 * WIDTH * sizeof *out));
    references(out);
    layers(out);
    turned<unsigned char>("1 byte");
    turned<short>("2 bytes");
    turned<uchar4>("4 bytes");
    turned<float2>("8 bytes");
    turned<float4>("16 bytes");
    printf(wrong ? "%d results are wrong\n" : "all results are right\n", wrong);
    return wrong != 0;
}
