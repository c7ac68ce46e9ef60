/* Digests of parts of a store: each thread makes four words from its part, 16 words at a time, in four rounds of 16 steps
 * (built like MD5, with other constants). The words stand in shared memory, those of a thread 32 apart. 32 threads. */
#define WORDS 16

__device__ static unsigned turn(unsigned x, int by) { return x << by | x >> (32 - by); }

extern "C" __global__ void sto(uint4 *digests, const unsigned *store, int rounds) {
    __shared__ unsigned words[WORDS][32];
    int tx = threadIdx.x, part = blockIdx.x * 32 + tx;
    unsigned a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < WORDS; i++) words[i][tx] = store[(part * rounds + round) * WORDS + i];
        unsigned a0 = a, b0 = b, c0 = c, d0 = d;
#pragma unroll
        for (int step = 0; step < 4 * WORDS; step++) {
            unsigned mixed = step < 16 ? (b & c) | (~b & d) : step < 32 ? (d & b) | (~d & c) : step < 48 ? b ^ c ^ d : c ^ (b | ~d);
            int word = step < 16 ? step : step < 32 ? (5 * step + 1) % 16 : step < 48 ? (3 * step + 5) % 16 : 7 * step % 16;
            int by = 4 + step / 16 % 2 + step % 4 * 5;
            unsigned next = b + turn(a + mixed + words[word][tx] + 0x9e3779b9u * (step + 1), by);
            a = d;
            d = c;
            c = b;
            b = next;
        }
        a += a0;
        b += b0;
        c += c0;
        d += d0;
    }
    digests[part] = make_uint4(a, b, c, d);
}
