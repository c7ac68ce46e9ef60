/* labels: unit link: minigpu_cudart_13 */
/* The run-time library under the name that programs of nvcc 13 ask for: functions that CUDA 13 declares otherwise than
 * CUDA 12. */
#include "test.h"

typedef struct properties { /* cudaDeviceProp of CUDA 13 as far as it is read here; 8 fields of CUDA 12 are gone */
    char name[256];
    char before_memory[16 + 8 + 4];
    size_t total_bytes, shared_bytes;
    int registers, warp_size;
    size_t pitch;
    int block_threads, block[3], grid[3];
    size_t constant_bytes;
    int major, minor;
    size_t texture[2];
    int sms, integrated, maps_host_memory;
    char rest[1024];
} properties;

int cudaGetDeviceProperties(properties *p, int device);
int cudaRuntimeGetVersion(int *version);
int cudaGraphCreate(void **graph, unsigned int flags);
int cudaGraphAddEmptyNode(void **node, void *graph, void *const *on, size_t count);
int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges, size_t count);
int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count);
int cudaGraphDestroy(void *graph);

/* A program of nvcc 13 reads each property of the device at its own place. */
static void properties_lie_where_cuda_13_has_them(void **unused) {
    properties p;
    int version = 0;
    (void)unused;
    memset(&p, 0xff, sizeof p);
    assert_int_equal(cudaGetDeviceProperties(&p, 0), 0);
    assert_string_equal(p.name, "mini-GPU k20c");
    assert_int_equal(p.warp_size, 32);
    assert_int_equal(p.block_threads, 1024);
    assert_int_equal(p.constant_bytes, 65536);
    assert_int_equal(p.major, 8);
    assert_int_equal(p.sms, 13);
    assert_int_equal(p.maps_host_memory, 1);
    assert_int_equal(cudaGetDeviceProperties(&p, 1), 101); /* no such device */
    assert_int_equal(cudaRuntimeGetVersion(&version), 0);
    assert_int_equal(version, 13000);
}

/* CUDA 13 puts data of the edges before their number. */
static void dependencies_may_have_data_of_edges(void **unused) {
    void *graph, *a, *b;
    size_t roots = 0;
    (void)unused;
    assert_int_equal(cudaGraphCreate(&graph, 0), 0);
    assert_int_equal(cudaGraphAddEmptyNode(&a, graph, NULL, 0), 0);
    assert_int_equal(cudaGraphAddEmptyNode(&b, graph, NULL, 0), 0);
    assert_int_equal(cudaGraphGetRootNodes(graph, NULL, &roots), 0);
    assert_int_equal(roots, 2);
    assert_int_equal(cudaGraphAddDependencies(graph, &a, &b, NULL, 1), 0);
    assert_int_equal(cudaGraphGetRootNodes(graph, NULL, &roots), 0);
    assert_int_equal(roots, 1);
    assert_int_equal(cudaGraphDestroy(graph), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties_lie_where_cuda_13_has_them),
                                       cmocka_unit_test(dependencies_may_have_data_of_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
