/* managed: host and device use the same pointers. The device walks a list that the host has linked, and the host goes on
 * with what the device has written. */
#include <cstdio>

#include "check.h"

struct node {
    node *next;
    int value;
};

/* Each thread adds up its own list. */
__global__ void walk(node *const *lists, int count, int *sums) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    int sum = 0;
    for (const node *n = lists[i]; n; n = n->next) sum += n->value;
    sums[i] = sum;
}

int main() {
    const int count = 200;
    node *nodes, **lists;
    int *sums, used = 0;
    CHECK(cudaMallocManaged(&nodes, sizeof(node) * count * 10));
    CHECK(cudaMallocManaged(&lists, sizeof(node *) * count));
    CHECK(cudaMallocManaged(&sums, sizeof(int) * count));
    for (int i = 0; i < count; i++) {
        lists[i] = nullptr;
        for (int n = 0; n < i % 10; n++) {
            nodes[used].value = i + n;
            nodes[used].next = lists[i];
            lists[i] = &nodes[used++];
        }
    }
    walk<<<(count + 63) / 64, 64>>>(lists, count, sums);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        int right = 0;
        for (int n = 0; n < i % 10; n++) right += i + n;
        if (sums[i] == right) continue;
        printf("list %d has the sum %d, not %d\n", i, sums[i], right);
        return 1;
    }
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(lists));
    CHECK(cudaFree(sums));
    printf("the sums of %d lists are right\n", count);
    return 0;
}
