/* Inputs of spmv: a sparse matrix whose rows have a Pareto-distributed length (many short ones, few long ones), at most
 * as many elements as there are diagonals, brought to the buffers' number of elements in all; columns near the diagonal
 * for half of them and anywhere for the other half. x and the values stay as the launch file makes them. */
#include <stdlib.h>
#include "reference.h"

const char *generate_spmv(const reference_launch *launch, uint64_t seed) {
    const uint32_t rows = reference_u32(launch, 7);
    const uint64_t elements = reference_count(launch, 2, 4), longest = reference_count(launch, 3, 4);
    int32_t *columns = reference_i32s(launch, 2, elements), *start = reference_i32s(launch, 3, longest);
    int32_t *length = reference_i32s(launch, 4, rows), *row_of = reference_i32s(launch, 5, rows);
    if (!columns || !start || !length || !row_of || rows < 1 || longest < 1 || reference_count(launch, 6, 4) < rows ||
        elements < rows || elements > longest * rows || elements > INT32_MAX)
        return "spmv needs columns[], start[diagonals], length[rows], row_of[rows], x[rows], and 1 to diagonals "
               "elements per row";
    uint32_t *drawn = (uint32_t *)malloc(rows * sizeof *drawn),
             *place = (uint32_t *)malloc((longest + 2) * sizeof *place);
    if (!drawn || !place) {
        free(drawn);
        free(place);
        return "out of memory";
    }
    uint64_t state = seed, sum = 0;
    for (uint32_t row = 0; row < rows; row++) {
        double pareto = 2.0 / pow(1.0 - (double)reference_random_unit(&state), 0.6);
        drawn[row] = pareto < (double)longest ? (uint32_t)pareto : (uint32_t)longest;
        if (drawn[row] < 1) drawn[row] = 1;
        sum += drawn[row];
    }
    while (sum != elements) {
        uint32_t row = reference_random_below(&state, rows);
        if (sum < elements && drawn[row] < longest) drawn[row]++, sum++;
        if (sum > elements && drawn[row] > 1) drawn[row]--, sum--;
    }
    /* Longest first, equal lengths in their old order. */
    memset(place, 0, (longest + 2) * sizeof *place);
    for (uint32_t row = 0; row < rows; row++) place[longest - drawn[row] + 1]++;
    for (uint64_t l = 0; l < longest; l++) place[l + 1] += place[l];
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t to = place[longest - drawn[row]]++;
        row_of[to] = (int32_t)row;
        length[to] = (int32_t)drawn[row];
    }
    uint32_t first = 0, filled = rows;
    for (uint64_t j = 0; j < longest; j++) {
        start[j] = (int32_t)first;
        while (filled > 0 && (uint64_t)length[filled - 1] <= j) filled--;
        for (uint32_t row = 0; row < filled; row++) {
            uint32_t near = (uint32_t)row_of[row] + reference_random_below(&state, 33) + rows - 16;
            columns[first + row] =
                (int32_t)(reference_random_below(&state, 2) ? near % rows : reference_random_below(&state, rows));
        }
        first += filled;
    }
    free(drawn);
    free(place);
    return NULL;
}
