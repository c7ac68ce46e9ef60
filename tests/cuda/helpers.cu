/* helpers.cu: what nvcc defines is there, in host and device code, and the helpers of CUDA's samples work. */
#include <helper_cuda.h>
#include <helper_functions.h>

#if !defined(__NVCC__) || !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 9
#error "programs cannot tell that this is CUDA"
#endif
#if defined(__CUDACC__) /* as headers for both compilers say it */
#define BOTH __host__ __device__
#else
#define BOTH
#endif
struct divisor {
    int d;
    BOTH operator int() const { return d; }
};
__global__ void divide(int *out, divisor by) { *out = 91 / by; }

/* Functions that <cmath> lacks are there for host code, too. */
static bool host_mathematics() {
    return rsqrtf(4.f) == .5f && rsqrt(16.) == .25 && rcbrt(8.) == .5 && rcbrtf(27.f) == 1.f / 3 && sinpi(3.) == 0 &&
           sinpif(.5f) == 1 && cospi(2.5) == 0 && cospif(7.f) == -1 && normcdf(0.) == .5 && normcdff(0.f) == .5f;
}

int main(int argc, const char **argv) {
    const char *words[] = {"helpers", "-n=12", "--scale=0.5", "-quiet"};
    StopWatchInterface *timer = nullptr;
    int *out, wrong = 0;
    findCudaDevice(argc, argv);
    sdkCreateTimer(&timer), sdkStartTimer(&timer);
    checkCudaErrors(cudaMallocManaged(&out, sizeof *out));
    divide<<<1, 1>>>(out, divisor{7});
    getLastCudaError("divide");
    checkCudaErrors(cudaDeviceSynchronize());
    sdkStopTimer(&timer);
    wrong += *out != 13;
    wrong += !host_mathematics();
    wrong += getCmdLineArgumentInt(4, words, "n") != 12 || getCmdLineArgumentFloat(4, words, "scale") != 0.5f;
    wrong += !checkCmdLineFlag(4, words, "quiet") || checkCmdLineFlag(4, words, "qui") || checkCmdLineFlag(4, words, "m");
    wrong += !(sdkGetTimerValue(&timer) > 0) || !checkCudaCapabilities(3, 0) || checkCudaCapabilities(99, 0);
    sdkDeleteTimer(&timer);
    printf(wrong ? "%d helpers are wrong\n" : "all helpers are right\n", wrong);
    if (argc > 1) checkCudaErrors(cudaMemcpy(out, nullptr, 4, cudaMemcpyDefault)); /* ends the program */
    return wrong != 0;
}
