/* Each thread adds up a linked list (Kim 2012, Fig. 2). Links are byte offsets from the first node; 0 ends a list. */
struct node {
    unsigned value, next;
};

extern "C" __global__ void pointer_chase(const char *nodes, const unsigned *heads, unsigned *sums) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    unsigned p = heads[i];
    while (p != 0) {
        const node *n = (const node *)(nodes + p);
        sum += n->value;
        p = n->next;
    }
    sums[i] = sum;
}
