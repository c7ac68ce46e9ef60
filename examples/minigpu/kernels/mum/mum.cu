/* Longest matches of reads with a text, by the text's suffix tree: for each place of a read the length of the longest match
 * that begins there, and where the text has it first. One thread per read. Letters are 0 to 3. A node is (begin and end in
 * the text of the letters that lead to it, the node for its letters but the first, letters from the root); node 0 is the root,
 * and a child of 0 is none. The text ends with a 4, so that no leaf is ever passed. */
extern "C" __global__ void mum(int2 *matches, const int4 *nodes, const int *children, const unsigned char *text,
                               const unsigned char *reads, int count, int length) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    const unsigned char *read = reads + thread * length;
    int node = 0, depth = 0, matched = 0; /* the lowest node passed, its letters, and those of the match */
#pragma unroll 1
    for (int from = 0; from < length; from++) {
        int begin = 0, known = matched; /* begin: where the text has the letters below the node */
        /* Down the tree: letters that are known to match in strides, then letter by letter. */
#pragma unroll 1
        while (from + depth < length) {
            int child = children[4 * node + read[from + depth]];
            if (child == 0) break;
            int4 edge = nodes[child];
            begin = edge.x;
            if (known >= edge.w) {
                matched = edge.w;
            } else {
                matched = known > depth ? known : depth;
#pragma unroll 1
                while (matched < edge.w && from + matched < length && text[begin + matched - depth] == read[from + matched]) matched++;
            }
            if (matched < edge.w) break;
            node = child;
            depth = edge.w;
        }
        int4 here = nodes[node];
        matches[thread * length + from] = make_int2(matched, matched > depth ? begin - depth : here.y - depth);
        node = here.z;
        if (depth > 0) depth--;
        if (matched > 0) matched--;
    }
}
