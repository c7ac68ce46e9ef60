/* Data structures whose pointers stand in shared memory, and point to shared and to global memory. Compiled by:
 * nvcc -ptx -arch=compute_75 -o nested.ptx nested.cu */
struct range {
    int *first, *last;
    range *below;
};

/* Quicksort of a segment in global memory per warp; its stack of ranges is in shared memory, of pointers. */
extern "C" __global__ void stack_of_ranges(int *data, int count) {
    __shared__ range stack[4][24];
    __shared__ range *top[4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int *base = data + (blockIdx.x * 4 + warp) * count;
    if (lane == 0) {
        range *r = &stack[warp][0];
        r->first = base;
        r->last = base + count - 1;
        r->below = nullptr;
        top[warp] = r;
        while (top[warp]) {
            range *now = top[warp];
            int *i = now->first, *j = now->last, *first = i, *last = j;
            top[warp] = now->below;
            if (i >= j) continue;
            int pivot = i[(j - i) / 2];
            while (i <= j) {
                while (*i < pivot) i++;
                while (*j > pivot) j--;
                if (i <= j) {
                    int t = *i;
                    *i++ = *j;
                    *j-- = t;
                }
            }
            /* the larger part below the smaller one, so that the stack stays small */
            int *a0 = first, *a1 = j, *b0 = i, *b1 = last;
            if (a1 - a0 < b1 - b0) {
                int *t0 = a0, *t1 = a1;
                a0 = b0;
                a1 = b1;
                b0 = t0;
                b1 = t1;
            }
            range *free = top[warp] ? top[warp] + 1 : &stack[warp][0];
            free->first = a0;
            free->last = a1;
            free->below = top[warp];
            free[1].first = b0;
            free[1].last = b1;
            free[1].below = free;
            top[warp] = free + 1;
        }
    }
}

/* A warp sorts a segment: its ranges wait on a stack of pointers in shared memory, and lanes part each range by votes
 * into the other of two arrays. What is equal to the pivot is in place at once. */
extern "C" __global__ void block_quicksort(int *data, int *scratch, int count) {
    __shared__ int *from[32], *to[32];
    __shared__ int length[32], depth;
    int *mine = data + blockIdx.x * count, *other = scratch + blockIdx.x * count;
    const int lane = threadIdx.x;
    if (lane == 0) {
        from[0] = mine;
        to[0] = other;
        length[0] = count;
        depth = 1;
    }
    __syncwarp();
    while (depth > 0) {
        int n = length[depth - 1], *a = from[depth - 1], *b = to[depth - 1];
        __syncwarp();
        if (n <= 32) {
            int v = lane < n ? a[lane] : 0x7fffffff, rank = 0;
            for (int k = 0; k < n; k++) {
                int w = __shfl_sync(~0u, v, k);
                rank += w < v || (w == v && k < lane);
            }
            __syncwarp();
            if (lane < n) mine[(a < mine + count && a >= mine ? a - mine : a - other) + rank] = v;
            if (lane == 0) depth--;
            __syncwarp();
            continue;
        }
        int pivot = a[n / 2], less = 0, more = 0, same = 0;
        for (int at = 0; at < n; at += 32) {
            int v = at + lane < n ? a[at + lane] : 0, valid = at + lane < n;
            unsigned l = __ballot_sync(~0u, valid && v < pivot), m = __ballot_sync(~0u, valid && v > pivot);
            unsigned before = (1u << lane) - 1;
            if (valid && v < pivot) b[less + __popc(l & before)] = v;
            if (valid && v > pivot) b[n - 1 - more - __popc(m & before)] = v;
            less += __popc(l);
            more += __popc(m);
        }
        same = n - less - more;
        for (int at = lane; at < same; at += 32) b[less + at] = pivot;
        __syncwarp();
        int offset = a >= mine && a < mine + count ? (int)(a - mine) : (int)(a - other);
        for (int at = lane; at < same; at += 32) mine[offset + less + at] = pivot;
        __syncwarp();
        if (lane == 0) {
            depth--;
            if (more) {
                from[depth] = b + n - more;
                to[depth] = a + n - more;
                length[depth] = more;
                depth++;
            }
            if (less) {
                from[depth] = b;
                to[depth] = a;
                length[depth] = less;
                depth++;
            }
        }
        __syncwarp();
    }
}

/* A search tree in shared memory whose nodes point to each other; one thread builds it, and all look keys up. */
struct node {
    node *child[2];
    int key, value;
};
extern "C" __global__ void shared_tree(int *out, const int *keys, int count) {
    __shared__ node nodes[64];
    __shared__ node *root;
    if (threadIdx.x == 0) {
        root = nullptr;
        for (int i = 0; i < 63; i++) {
            node *fresh = &nodes[i], **at = &root;
            fresh->child[0] = fresh->child[1] = nullptr;
            fresh->key = (i * 37 + blockIdx.x) % 64;
            fresh->value = i;
            while (*at) at = &(*at)->child[fresh->key > (*at)->key];
            *at = fresh;
        }
    }
    __syncthreads();
    int key = keys[threadIdx.x] & 63;
    node *n = root;
    while (n && n->key != key) n = n->child[key > n->key];
    int steps = 0;
    for (int i = 0; i < count; i++) {
        node *k = root;
        while (k && k->key != ((key + i) & 63)) {
            k = k->child[((key + i) & 63) > k->key];
            steps++;
        }
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (n ? n->value : -1) + 1000 * steps;
}
