/* Follows points of a moving wall from one frame to the next: a block takes one point, compares the 16x16 pixels that
 * surrounded it with every 16x16 window of a search area (reach x reach places, reach at most 32), and moves the point to
 * the place with the smallest sum of squared differences. Search area and template lie in shared memory, the sums are
 * compared in a tree. 256 threads; points stay 32 pixels and more away from the edge. */
#define SIDE 16
#define LARGEST_AREA (SIDE + 32 - 1)
#define THREADS 256

extern "C" __global__ void heartwall(const float *frame, const float *templates, int *row, int *column, float *error, int width,
                                     int reach) {
    __shared__ float area[LARGEST_AREA * LARGEST_AREA];
    __shared__ float wanted[SIDE * SIDE];
    __shared__ float smallest[THREADS];
    __shared__ int place_of[THREADS];
    int tx = threadIdx.x, point = blockIdx.x;
    int side = SIDE + reach - 1;
    int top = row[point] - side / 2, left = column[point] - side / 2;

    wanted[tx] = templates[point * SIDE * SIDE + tx];
    for (int i = tx; i < side * side; i += THREADS) area[i] = frame[(top + i / side) * width + left + i % side];
    __syncthreads();

    float best = 3.402823466e+38f;
    int best_place = 0;
    for (int place = tx; place < reach * reach; place += THREADS) {
        const float *corner = area + place / reach * side + place % reach;
        float sum = 0.0f;
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                float difference = corner[y * side + x] - wanted[y * SIDE + x];
                sum = fmaf(difference, difference, sum);
            }
        }
        if (sum < best) {
            best = sum;
            best_place = place;
        }
    }
    smallest[tx] = best;
    place_of[tx] = best_place;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (tx < half && (smallest[tx + half] < smallest[tx] ||
                          (smallest[tx + half] == smallest[tx] && place_of[tx + half] < place_of[tx]))) {
            smallest[tx] = smallest[tx + half];
            place_of[tx] = place_of[tx + half];
        }
        __syncthreads();
    }
    if (tx == 0) {
        row[point] = top + place_of[0] / reach + SIDE / 2;
        column[point] = left + place_of[0] % reach + SIDE / 2;
        error[point] = smallest[0];
    }
}
