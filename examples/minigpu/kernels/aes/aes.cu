/* AES of blocks of 16 bytes with a key of 128 bits, one block per thread: nine rounds by one table of 256 words in shared
 * memory, which serves all four bytes of a column when it is turned, and the last round by the table's S-box. 256 threads. */
#define ROUNDS 10

__device__ static unsigned turn(unsigned x, int by) { return x >> by | x << (32 - by); }

extern "C" __global__ void aes(uint4 *ciphers, const uint4 *plains, const unsigned *keys, const unsigned *table) {
    __shared__ unsigned mixed[256];
    int tx = threadIdx.x, block = blockIdx.x * 256 + tx;
    mixed[tx] = table[tx];
    __syncthreads();
    uint4 plain = plains[block];
    unsigned state[4] = {plain.x ^ keys[0], plain.y ^ keys[1], plain.z ^ keys[2], plain.w ^ keys[3]}, next[4];
    for (int round = 1; round < ROUNDS; round++) {
        for (int c = 0; c < 4; c++)
            next[c] = mixed[state[c] >> 24] ^ turn(mixed[state[(c + 1) % 4] >> 16 & 255], 8) ^
                      turn(mixed[state[(c + 2) % 4] >> 8 & 255], 16) ^ turn(mixed[state[(c + 3) % 4] & 255], 24) ^
                      keys[4 * round + c];
        for (int c = 0; c < 4; c++) state[c] = next[c];
    }
    for (int c = 0; c < 4; c++)
        next[c] = ((mixed[state[c] >> 24] & 0xff00u) << 16 | (mixed[state[(c + 1) % 4] >> 16 & 255] & 0xff00u) << 8 |
                   (mixed[state[(c + 2) % 4] >> 8 & 255] & 0xff00u) |
                   (mixed[state[(c + 3) % 4] & 255] & 0xff00u) >> 8) ^
                  keys[4 * ROUNDS + c];
    ciphers[block] = make_uint4(next[0], next[1], next[2], next[3]);
}
