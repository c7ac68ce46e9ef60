/* Laplace's equation in a box: each inner cell becomes the mean of its six neighbours, the faces stay. A block of 32x4
 * threads walks through all layers. It keeps three layers with their edges in shared memory and shifts them in place: the
 * layer in the middle becomes the one below, the one above the middle. */
#define ACROSS 34
#define DOWN 6

extern "C" __global__ void lps(const float *from, float *to, int width, int height, int layers) {
    __shared__ float tile[3][ACROSS * DOWN];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 32 + tx;
    int column = blockIdx.x * 32 + tx, row = blockIdx.y * 4 + ty, own = (ty + 1) * ACROSS + tx + 1;
    int layer_cells = width * height;
    /* The edge around the block's cells: 34 above, 34 below, 4 at each side. */
    int edge = -1, edge_column = 0, edge_row = 0;
    if (thread < 2 * ACROSS) {
        edge_column = thread % ACROSS;
        edge_row = thread / ACROSS * (DOWN - 1);
        edge = edge_row * ACROSS + edge_column;
    } else if (thread < 2 * ACROSS + 8) {
        edge_column = (thread - 2 * ACROSS) / 4 * (ACROSS - 1);
        edge_row = (thread - 2 * ACROSS) % 4 + 1;
        edge = edge_row * ACROSS + edge_column;
    }
    edge_column += blockIdx.x * 32 - 1;
    edge_row += blockIdx.y * 4 - 1;
    if (edge_column < 0 || edge_row < 0 || edge_column >= width || edge_row >= height) edge = -1;
    bool inside = column < width && row < height;
    bool inner = column > 0 && column < width - 1 && row > 0 && row < height - 1;
    int cell = row * width + column, edge_cell = edge_row * width + edge_column;
    if (inside) tile[2][own] = from[cell];
    if (edge >= 0) tile[2][edge] = from[edge_cell];
#pragma unroll 1
    for (int layer = 0; layer < layers; layer++) {
        if (inside) {
            tile[0][own] = tile[1][own];
            tile[1][own] = tile[2][own];
            if (layer + 1 < layers) tile[2][own] = from[cell + layer_cells];
        }
        if (edge >= 0) {
            tile[0][edge] = tile[1][edge];
            tile[1][edge] = tile[2][edge];
            if (layer + 1 < layers) tile[2][edge] = from[edge_cell + layer_cells];
        }
        __syncthreads();
        if (inside) {
            float value = tile[1][own];
            if (inner && layer > 0 && layer + 1 < layers)
                value = (tile[1][own - 1] + tile[1][own + 1] + tile[1][own - ACROSS] + tile[1][own + ACROSS] + tile[0][own] +
                         tile[2][own]) *
                        0.16666667f;
            to[cell] = value;
        }
        __syncthreads();
        cell += layer_cells;
        edge_cell += layer_cells;
    }
}
