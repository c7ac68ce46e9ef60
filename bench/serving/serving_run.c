/* Both services on one GPU, event by event: a step of the prefill runs until it ends or a step of the decode is due. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serving.h"
#include "sorted.h"

enum { BINS = 4000000, BATCH_TOKENS = 4096, MOST_ACTIVE = 512, LAUNCH_AHEAD = 7, REFILL = 4 };

const char *const serving_way_names[SERVING_WAYS] = {"none",  "level1", "level2", "level3",  "kernel",
                                                     "drain", "switch", "flush",  "spatial", "alone"};

/* Times in bins of equal width; the last bin has all longer ones. */
typedef struct histogram {
    double width_us;
    uint64_t total;
    uint32_t bins[BINS];
} histogram;

/* A request that is being decoded. */
typedef struct sequence {
    double kv_tokens, left, last_us;
    int late; /* a token has come later than the limit */
} sequence;

typedef struct server {
    const serving_model *decode, *prefill;
    const serving_request *decode_requests, *prefill_requests;
    size_t decode_count, prefill_count, decode_next, prefill_next;
    const serving_options *options;
    double decode_scale[2], prefill_scale[2]; /* arithmetic, memory */
    double now_us, due_us, busy_us;
    uint64_t random;
    sequence active[MOST_ACTIVE];
    uint32_t active_count;
    size_t decoded, decoded_within;
    histogram *tokens, *leaves;
    serving_step step; /* of the prompt at hand */
    int has_prompt;
    double progress_us, restore_us, save_us, read_tokens;
    double *first_us; /* per prompt that was read */
    size_t read_count;
    uint64_t preemptions;
} server;

static void count(histogram *h, double us) {
    const double bin = us / h->width_us;
    h->bins[bin < BINS - 1 ? (size_t)bin : BINS - 1]++;
    h->total++;
}

static double quantile(const histogram *h, double share) {
    const uint64_t rank = (uint64_t)(share * (double)(h->total ? h->total - 1 : 0));
    uint64_t below = 0;
    for (size_t i = 0; i < BINS; i++)
        if ((below += h->bins[i]) > rank) return ((double)i + 0.5) * h->width_us;
    return 0;
}

/* ---- prefill ---- */

static int prompt_is_there(const server *s) {
    return s->has_prompt || s->options->is_batch || s->prefill_next < s->prefill_count;
}

static double prompt_ready_us(const server *s) {
    if (s->has_prompt || s->options->is_batch) return s->now_us;
    return fmax(s->now_us, s->prefill_requests[s->prefill_next].arrival_us);
}

static void begin_prompt(server *s) {
    serving_prefill(s->prefill, s->options->is_batch ? BATCH_TOKENS : s->prefill_requests[s->prefill_next].input_tokens,
                    &s->step);
    serving_scale(&s->step, s->prefill_scale[0], s->prefill_scale[1]);
    s->progress_us = s->restore_us = 0;
    s->has_prompt = 1;
}

static void end_prompt(server *s) {
    s->has_prompt = 0;
    s->read_tokens += s->options->is_batch ? BATCH_TOKENS : s->prefill_requests[s->prefill_next].input_tokens;
    if (s->options->is_batch) return;
    s->first_us[s->read_count++] = s->now_us - s->prefill_requests[s->prefill_next].arrival_us;
    s->prefill_next++;
}

static double command(server *s) {
    const double *c = s->options->command_us, tail = c[2] - c[0] - c[1] / 2;
    const double even = gpump_random_below(&s->random, 1u << 20) / 1048576.0;
    return c[0] + c[1] * even - tail * log((gpump_random_below(&s->random, 1u << 20) + 0.5) / 1048576.0);
}

/* The prompt at hand leaves the GPU. Returns how long that takes. */
static double leave(server *s) {
    const serving_place place = serving_find(&s->step, s->progress_us);
    const double wave_us = place.kernel->us / place.kernel->waves;
    const double in_wave_us = fmod(place.inside_us, wave_us), rest_us = place.kernel->us - place.inside_us;
    double ahead_us;
    switch (s->options->way) {
    case SERVING_LEVEL1:
        ahead_us = serving_kernel_end(&s->step, place.number + LAUNCH_AHEAD - place.number % REFILL) - s->progress_us;
        s->progress_us += ahead_us;
        return ahead_us + command(s);
    case SERVING_LEVEL2: s->progress_us += rest_us; return rest_us + command(s);
    case SERVING_LEVEL3: s->restore_us = s->save_us; return s->save_us + command(s);
    case SERVING_KERNEL: s->progress_us += rest_us; return rest_us;
    case SERVING_SWITCH: s->restore_us = s->save_us; return s->save_us;
    case SERVING_FLUSH:
        if (!place.kernel->in_place) {
            s->progress_us -= in_wave_us;
            return 0;
        } /* fall through */
    case SERVING_DRAIN: s->progress_us += wave_us - in_wave_us; return wave_us - in_wave_us;
    default:
        ahead_us = s->step.total_us - s->progress_us;
        s->progress_us = s->step.total_us;
        return ahead_us;
    }
}

/* Runs the prompt at hand until it ends or a step of the decode is due at due_us, and then lets it leave. */
static void run_prompt(server *s, double due_us) {
    const double start_us = prompt_ready_us(s), epsilon_us = 1e-6;
    double end_us, left_us;
    s->now_us = start_us;
    if (!s->has_prompt) begin_prompt(s);
    end_us = start_us + s->restore_us + s->step.total_us - s->progress_us;
    if (end_us <= due_us) {
        s->now_us = end_us;
    } else {
        const double runs_from_us = start_us + s->restore_us;
        s->progress_us += fmax(0, due_us - runs_from_us);
        s->now_us = fmax(due_us, runs_from_us);
        s->restore_us = 0;
        left_us = leave(s);
        s->now_us += left_us;
        count(s->leaves, s->now_us - due_us);
        s->preemptions++;
    }
    s->busy_us += s->now_us - start_us;
    if (end_us <= due_us || s->progress_us > s->step.total_us - epsilon_us) end_prompt(s);
}

/* ---- decode ---- */

/* Returns when the next step of the decode is due; infinity when no request is there. */
static double decode_due_us(const server *s) {
    if (s->active_count) return s->due_us;
    if (s->decode_next == s->decode_count) return INFINITY;
    return fmax(s->due_us, s->decode_requests[s->decode_next].arrival_us);
}

static void join(server *s) {
    while (s->decode_next < s->decode_count && s->active_count < MOST_ACTIVE &&
           s->decode_requests[s->decode_next].arrival_us <= s->now_us) {
        const serving_request *r = &s->decode_requests[s->decode_next++];
        const sequence q = {r->input_tokens, r->output_tokens, r->arrival_us, 0};
        s->active[s->active_count++] = q;
    }
}

static void run_decode(server *s) {
    serving_step step;
    double kv = 0;
    uint32_t kept = 0;
    join(s);
    for (uint32_t i = 0; i < s->active_count; i++) kv += s->active[i].kv_tokens + 1;
    serving_decode(s->decode, s->active_count, kv / s->active_count, &step);
    serving_scale(&step, s->decode_scale[0], s->decode_scale[1]);
    s->now_us += step.total_us;
    s->busy_us += step.total_us;
    for (uint32_t i = 0; i < s->active_count; i++) {
        sequence q = s->active[i];
        count(s->tokens, s->now_us - q.last_us);
        q.late |= s->now_us - q.last_us > s->options->token_limit_us;
        q.last_us = s->now_us;
        q.kv_tokens++;
        if (--q.left > 0) {
            s->active[kept++] = q;
        } else {
            s->decoded++;
            s->decoded_within += !q.late;
        }
    }
    s->active_count = kept;
}

/* Serves until nothing is left. A batch ends with the first prompt that ends behind its time. */
static void serve(server *s) {
    for (;;) {
        const double due_us = decode_due_us(s);
        if (isinf(due_us) && (s->options->is_batch ? s->now_us >= s->options->end_us : !prompt_is_there(s))) return;
        if (prompt_is_there(s) && prompt_ready_us(s) < due_us) {
            run_prompt(s, due_us);
            continue;
        }
        s->now_us = fmax(s->now_us, due_us);
        s->due_us = due_us + s->options->interval_us;
        run_decode(s);
    }
}

/* Serves one list after the other, each as if nothing else were on the GPU. */
static void serve_apart(server *s) {
    const size_t prompts = s->prefill_count;
    serving_options only = *s->options;
    const serving_options *both = s->options;
    double end_us;
    only.is_batch = 0;
    s->options = &only;
    s->prefill_count = 0;
    serve(s);
    end_us = s->now_us;
    s->options = both;
    s->prefill_count = prompts;
    s->now_us = 0;
    serve(s);
    s->now_us = fmax(s->now_us, end_us);
    s->busy_us /= 2;
}

static void finish(server *s, serving_result *result) {
    size_t within = 0;
    for (size_t i = 0; i < s->read_count; i++) within += s->first_us[i] <= s->options->first_limit_us;
    sorted_sort(s->first_us, s->read_count);
    for (int i = 0; i < 2; i++) {
        const double share = i ? 0.99 : 0.5;
        result->first_us[i] = s->read_count ? sorted_quantile(s->first_us, s->read_count, share) : NAN;
        result->token_us[i] = s->tokens->total ? quantile(s->tokens, share) : NAN;
        result->leave_us[i] = s->leaves->total ? quantile(s->leaves, share) : NAN;
    }
    result->prefill_within = s->read_count ? (double)within / (double)s->read_count : NAN;
    result->decode_within = s->decoded ? (double)s->decoded_within / (double)s->decoded : NAN;
    result->busy = s->now_us > 0 ? s->busy_us / s->now_us : 0;
    result->tokens_per_s = s->now_us > 0 ? s->read_tokens / s->now_us * 1e6 : 0;
    result->preemptions = s->preemptions;
}

/* MIG 3g and 4g: three and four sevenths of the SMs, four eighths of the memory each ("mig:3g+4g" of gpump_partition).
 */
static void set_scales(server *s) {
    const int is_spatial = s->options->way == SERVING_SPATIAL;
    s->decode_scale[0] = is_spatial ? 7.0 / 3 : 1;
    s->prefill_scale[0] = is_spatial ? 7.0 / 4 : 1;
    s->decode_scale[1] = s->prefill_scale[1] = is_spatial ? 2 : 1;
}

int serving_run(const serving_model *decode, const serving_model *prefill, const serving_request *decode_requests,
                size_t decode_count, const serving_request *prefill_requests, size_t prefill_count,
                const serving_options *options, serving_result *result) {
    const gpump_gpu *gpu = &prefill->gpu;
    const uint64_t sm_bytes = 4ull * gpu->registers + gpu->shared_bytes[gpu->shared_option_count - 1];
    server *s = (server *)calloc(1, sizeof *s);
    memset(result, 0, sizeof *result);
    if (s) {
        s->tokens = (histogram *)calloc(1, sizeof *s->tokens);
        s->leaves = (histogram *)calloc(1, sizeof *s->leaves);
        s->first_us = (double *)malloc((prefill_count + 1) * sizeof *s->first_us);
    }
    if (!s || !s->tokens || !s->leaves || !s->first_us) {
        snprintf(result->error, sizeof result->error, "out of memory");
    } else {
        s->decode = decode;
        s->prefill = prefill;
        s->decode_requests = decode_requests;
        s->prefill_requests = prefill_requests;
        s->decode_count = decode_count;
        s->prefill_count = options->is_batch ? 0 : prefill_count;
        s->options = options;
        s->random = 1;
        s->tokens->width_us = 10;
        s->leaves->width_us = 1;
        s->save_us = (double)gpump_gpu_save_ps(gpu, sm_bytes) * 1e-6;
        set_scales(s);
        if (options->way >= SERVING_SPATIAL)
            serve_apart(s);
        else
            serve(s);
        finish(s, result);
    }
    if (s) {
        free(s->tokens);
        free(s->leaves);
        free(s->first_us);
    }
    free(s);
    return result->error[0] ? -1 : 0;
}
