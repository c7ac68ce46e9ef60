/* Each thread sorts a stretch of its own, in place: quicksort without recursion, whose stack of ranges lies in shared
 * memory, the pointer to its top beside it. */
#define THREADS 32
#define DEPTH 12

struct range {
    int low, high;
};

extern "C" __global__ void quicksort(unsigned *words, int stretch) {
    __shared__ range stack[THREADS][DEPTH];
    __shared__ range *top[THREADS];
    const unsigned me = threadIdx.x;
    unsigned *mine = words + (blockIdx.x * THREADS + me) * stretch;
    stack[me][0].low = 0;
    stack[me][0].high = stretch - 1;
    top[me] = stack[me] + 1;
#pragma unroll 1
    while (top[me] > stack[me]) {
        const range now = *--top[me];
        if (now.low >= now.high) continue;
        const unsigned pivot = mine[(now.low + now.high) / 2];
        int i = now.low, j = now.high;
        while (i <= j) {
            while (mine[i] < pivot) i++;
            while (mine[j] > pivot) j--;
            if (i <= j) {
                const unsigned word = mine[i];
                mine[i++] = mine[j];
                mine[j--] = word;
            }
        }
        /* the longer part first, so that the stack stays as deep as log2(stretch) + 1 */
        const int left_is_longer = j - now.low > now.high - i;
        top[me]->low = left_is_longer ? now.low : i;
        top[me]->high = left_is_longer ? j : now.high;
        top[me]++;
        top[me]->low = left_is_longer ? i : now.low;
        top[me]->high = left_is_longer ? now.high : j;
        top[me]++;
    }
}
