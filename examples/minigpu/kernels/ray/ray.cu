/* A picture of spheres by ray tracing, one thread per pixel, in blocks of 16x8. A ray that meets a sphere is lit from one
 * side, unless another sphere is in the way, and goes on as its reflection. A sphere's look is the part of light that it
 * keeps; what it does not keep is reflected. The sky is brighter above. */
#define FAR 1.0e30f
#define NEAR 0.001f

__device__ static float dot(float3 a, float3 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
__device__ static float3 walk(float3 from, float3 to, float by) {
    return make_float3(fmaf(to.x, by, from.x), fmaf(to.y, by, from.y), fmaf(to.z, by, from.z));
}
__device__ static float3 unit(float3 a) {
    float by = rsqrtf(dot(a, a));
    return make_float3(a.x * by, a.y * by, a.z * by);
}

/* The nearest sphere that the ray meets, or -1, and how far away. A sphere is (x, y, z, radius). */
__device__ static int nearest(const float4 *spheres, int count, float3 from, float3 to, float *distance) {
    int found = -1;
    *distance = FAR;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        float4 sphere = spheres[i];
        float3 between = make_float3(sphere.x - from.x, sphere.y - from.y, sphere.z - from.z);
        float along = dot(between, to), inside = fmaf(sphere.w, sphere.w, fmaf(along, along, -dot(between, between)));
        if (inside > 0.0f) {
            float at = along - sqrtf(inside);
            if (at > NEAR && at < *distance) {
                *distance = at;
                found = i;
            }
        }
    }
    return found;
}

extern "C" __global__ void ray(float *picture, const float4 *spheres, const float *looks, int count, int bounces) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int width = gridDim.x * 16, height = gridDim.y * 8;
    const float3 light = make_float3(0.48f, 0.8f, -0.36f);
    float3 from = make_float3(0.0f, 0.0f, -8.0f);
    float3 to = unit(make_float3((float)(2 * column + 1 - width), (float)(height - 2 * row - 1), (float)(2 * height)));
    float brightness = 0.0f, left = 1.0f;
#pragma unroll 1
    for (int bounce = 0; bounce < bounces && left > 0.02f; bounce++) {
        float distance, unused, shade;
        int hit = nearest(spheres, count, from, to, &distance);
        if (hit < 0) {
            brightness = fmaf(left, fmaf(0.4f, to.y, 0.6f), brightness);
            break;
        }
        float4 sphere = spheres[hit];
        float look = looks[hit];
        from = walk(from, to, distance);
        float3 normal = unit(make_float3(from.x - sphere.x, from.y - sphere.y, from.z - sphere.z));
        shade = dot(normal, light);
        if (shade < 0.0f || nearest(spheres, count, from, light, &unused) >= 0) shade = 0.0f;
        brightness = fmaf(left * look, fmaf(0.8f, shade, 0.2f), brightness);
        left *= 1.0f - look;
        to = unit(walk(to, normal, -2.0f * dot(to, normal)));
    }
    picture[row * width + column] = brightness;
}
