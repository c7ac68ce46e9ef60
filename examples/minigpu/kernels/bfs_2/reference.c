/* bfs_2(u8 frontier[n], u8 marked[n], u8 visited[n], u8 more[1], s32 n) */
#include "reference.h"

const char *reference_bfs_2(const reference_launch *launch) {
    const int32_t n = reference_i32(launch, 4);
    const uint64_t count = n > 0 ? (uint64_t)n : 0, threads = reference_threads(launch);
    uint8_t *frontier = reference_u8s(launch, 0, count), *marked = reference_u8s(launch, 1, count);
    uint8_t *visited = reference_u8s(launch, 2, count), *more = reference_u8s(launch, 3, 1);
    if (launch->argument_count != 5 || !frontier || !marked || !visited || !more)
        return "bfs_2 takes u8 frontier[n], marked[n], visited[n], more[1], and s32 n";
    for (uint64_t node = 0; node < count && node < threads; node++) {
        if (!marked[node]) continue;
        frontier[node] = 1;
        visited[node] = 1;
        *more = 1;
        marked[node] = 0;
    }
    return NULL;
}
