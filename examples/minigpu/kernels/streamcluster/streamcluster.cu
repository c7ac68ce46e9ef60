/* What opening a new centre at point `candidate` would bring: every point either moves there, or tells how much its own
 * centre would lose if its points had to move. Coordinates are stored one dimension after the other; each point has its
 * own row of gains, one per centre and one for the candidate. */
extern "C" __global__ void streamcluster(int points, int dimensions, int candidate, int centres, const float *coordinates,
                                         const float *weight, const int *assigned, const float *cost, const int *centre_of,
                                         float *gain, unsigned char *moves) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points) {
        float distance = 0.0f;
#pragma unroll 1
        for (int d = 0; d < dimensions; d++) {
            float difference = coordinates[d * points + point] - coordinates[d * points + candidate];
            distance += difference * difference;
        }
        float there = distance * weight[point];
        float here = cost[point];
        float *row = gain + (long long)point * (centres + 1);
        if (there < here) {
            moves[point] = 1;
            row[centres] = there - here;
        } else {
            row[centre_of[assigned[point]]] = here - there;
        }
    }
}
