/* ray(f32 picture[8 gy][16 gx], f32 spheres[count][4], f32 looks[count], s32 count, s32 bounces) */
#include "reference.h"

typedef struct ray_vector {
    float x, y, z;
} ray_vector;

static ray_vector ray_make(float x, float y, float z) {
    const ray_vector made = {x, y, z};
    return made;
}
static float ray_dot(ray_vector a, ray_vector b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
static ray_vector ray_walk(ray_vector from, ray_vector to, float by) {
    return ray_make(fmaf(to.x, by, from.x), fmaf(to.y, by, from.y), fmaf(to.z, by, from.z));
}
static ray_vector ray_unit(ray_vector a) {
    const float by = reference_rsqrt_approx(ray_dot(a, a));
    return ray_make(a.x * by, a.y * by, a.z * by);
}

static int32_t ray_nearest(const float (*spheres)[4], int32_t count, ray_vector from, ray_vector to, float *distance) {
    int32_t found = -1;
    *distance = 1.0e30f;
    for (int32_t i = 0; i < count; i++) {
        const ray_vector between = ray_make(spheres[i][0] - from.x, spheres[i][1] - from.y, spheres[i][2] - from.z);
        const float along = ray_dot(between, to);
        const float inside = fmaf(spheres[i][3], spheres[i][3], fmaf(along, along, -ray_dot(between, between)));
        if (inside > 0.0f) {
            const float at = along - sqrtf(inside);
            if (at > 0.001f && at < *distance) {
                *distance = at;
                found = i;
            }
        }
    }
    return found;
}

static float ray_brightness(const float (*spheres)[4], const float *looks, int32_t count, int32_t bounces,
                            ray_vector to) {
    const ray_vector light = {0.48f, 0.8f, -0.36f};
    ray_vector from = {0.0f, 0.0f, -8.0f};
    float brightness = 0.0f, left = 1.0f;
    for (int32_t bounce = 0; bounce < bounces && left > 0.02f; bounce++) {
        float distance, unused;
        const int32_t hit = ray_nearest(spheres, count, from, to, &distance);
        if (hit < 0) return fmaf(left, fmaf(0.4f, to.y, 0.6f), brightness);
        from = ray_walk(from, to, distance);
        const ray_vector normal =
            ray_unit(ray_make(from.x - spheres[hit][0], from.y - spheres[hit][1], from.z - spheres[hit][2]));
        float shade = ray_dot(normal, light);
        if (shade < 0.0f || ray_nearest(spheres, count, from, light, &unused) >= 0) shade = 0.0f;
        brightness = fmaf(left * looks[hit], fmaf(0.8f, shade, 0.2f), brightness);
        left *= 1.0f - looks[hit];
        to = ray_unit(ray_walk(to, normal, -2.0f * ray_dot(to, normal)));
    }
    return brightness;
}

const char *reference_ray(const reference_launch *launch) {
    const int32_t count = reference_i32(launch, 3), bounces = reference_i32(launch, 4);
    if (launch->argument_count != 5 || count < 0 || bounces < 0 || !reference_fits(launch, 1u << 20) ||
        launch->block[0] != 16 || launch->block[1] != 8 || launch->block[2] != 1 || launch->grid[2] != 1)
        return "ray takes f32 picture, f32 spheres[count][4], f32 looks[count], s32 count, s32 bounces, and blocks of "
               "16x8 threads";
    const uint64_t width = 16 * (uint64_t)launch->grid[0], height = 8 * (uint64_t)launch->grid[1];
    float *picture = reference_f32s(launch, 0, width * height);
    const float(*spheres)[4] = (const float(*)[4])reference_f32s(launch, 1, 4 * (uint64_t)count);
    const float *looks = reference_f32s(launch, 2, (uint64_t)count);
    if (!picture || !spheres || !looks) return "ray needs picture[8 gy][16 gx], spheres[count][4] and looks[count]";
    for (uint64_t row = 0; row < height; row++)
        for (uint64_t column = 0; column < width; column++) {
            const ray_vector to = ray_make((float)(2 * (int64_t)column + 1 - (int64_t)width),
                                           (float)((int64_t)height - 2 * (int64_t)row - 1), (float)(2 * height));
            picture[row * width + column] = ray_brightness(spheres, looks, count, bounces, ray_unit(to));
        }
    return NULL;
}
