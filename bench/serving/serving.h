/* serving: one GPU serves two language models. One generates tokens (decode), the other reads prompts (prefill), or
 * works through a batch of them. What a step takes is the sum of measured operators; what it takes to give the GPU to
 * the decode step that is due follows from the way in which the prefill leaves. docs/serving.md has the question. */
#ifndef BENCH_SERVING_H
#define BENCH_SERVING_H
#include "csv.h"
#include "gpump_once.h"

enum { SERVING_OPERATORS = 11, SERVING_POINTS = 128, SERVING_BATCHES = 16, SERVING_NAME = 24 };

/* Time over the number of tokens, or over the tokens attended to. */
typedef struct serving_curve {
    uint32_t count, batch; /* batch: of attention */
    double x[SERVING_POINTS], us[SERVING_POINTS];
} serving_curve;

/* A language model on a device: its measured operators. */
typedef struct serving_model {
    char name[SERVING_NAME];
    uint32_t layers, hidden, inner, query_heads, kv_heads; /* kv_heads: of keys and values */
    gpump_gpu gpu;
    double flops_per_byte; /* of the device: products of matrices with more are bound by arithmetic */
    serving_curve embedding, head[2];
    serving_curve operators[SERVING_OPERATORS]; /* that of attention is for prompts */
    serving_curve attention[SERVING_BATCHES];   /* decode, by the number of requests */
    uint32_t attention_count;
} serving_model;

/* One kernel of a step. */
typedef struct serving_kernel {
    double us;
    double waves;   /* rounds in which its blocks run; a part of the last round counts as whole */
    int in_place;   /* it overwrites what it reads, so its blocks cannot be dropped */
    int is_compute; /* bound by arithmetic; 0: by memory */
} serving_kernel;

/* A step of a model: an embedding, the layers' operators, and the output layer. */
typedef struct serving_step {
    serving_kernel first, last, operators[SERVING_OPERATORS];
    uint32_t layers;
    double layer_us, total_us;
} serving_step;

/* Where a step is. */
typedef struct serving_place {
    const serving_kernel *kernel;
    uint32_t number;  /* of the kernel in the step */
    double inside_us; /* time since the kernel began */
} serving_place;

/* Reads a model on a device, "H100" or "A100". Returns 1, or 0 with a sentence in `error`. */
int serving_model_read(serving_model *model, const csv_table *operators, const char *device, const char *name,
                       char *error, size_t error_bytes);
/* Sets the step of one prompt. tokens: 1 or more. */
void serving_prefill(const serving_model *model, double tokens, serving_step *step);
/* Sets the step that gives each of `requests` requests one token. kv_tokens: what each attends to, on average. */
void serving_decode(const serving_model *model, double requests, double kv_tokens, serving_step *step);
/* Slows a step down to what a part of the GPU gives it. */
void serving_scale(serving_step *step, double compute, double memory);
/* Returns where a step is after us, from 0 to below its length. */
serving_place serving_find(const serving_step *step, double us);
/* Returns when kernel number ends, in us since the step began; numbers beyond the last are the last. */
double serving_kernel_end(const serving_step *step, uint32_t number);
extern const char *const serving_operator_names[SERVING_OPERATORS];

/* ---- how the prefill leaves ---- */
typedef enum serving_way {
    SERVING_NONE,    /* the prompt at hand is read to its end */
    SERVING_LEVEL1,  /* launched kernels run out: XSched level 1 */
    SERVING_LEVEL2,  /* the running kernel ends, and the driver tells: XSched level 2 */
    SERVING_LEVEL3,  /* the driver stops the kernel, and its context is saved: XSched level 3 */
    SERVING_KERNEL,  /* the running kernel ends, as a scheduler in hardware has it */
    SERVING_DRAIN,   /* running blocks end (Tanasic 5.1) */
    SERVING_SWITCH,  /* blocks are saved (Tanasic 5.1) */
    SERVING_FLUSH,   /* blocks are dropped where they may be (Park 2015) */
    SERVING_SPATIAL, /* nobody leaves: MIG 3g for decode, 4g for prefill */
    SERVING_ALONE,   /* nobody shares: a GPU for each */
    SERVING_WAYS
} serving_way;
extern const char *const serving_way_names[SERVING_WAYS];

typedef struct serving_request {
    double arrival_us, input_tokens, output_tokens;
} serving_request;

typedef struct serving_options {
    serving_way way;
    double interval_us;                    /* decode gives each request a token in every interval */
    double end_us;                         /* requests that arrive later are left out */
    int is_batch;                          /* prefill: prompts of 4,096 tokens without end; 0: the requests */
    double command_us[3];                  /* at least, spread, on average (gpump_scheduler_config.command_*) */
    double first_limit_us, token_limit_us; /* a request is within its limit below these */
} serving_options;

/* NAN: there is none, such as the first tokens of a batch. */
typedef struct serving_result {
    double first_us[2], token_us[2];      /* medians and 99th percentiles */
    double prefill_within, decode_within; /* shares of the requests */
    double busy, tokens_per_s;            /* share of the time; prompt tokens that were read */
    uint64_t preemptions;
    double leave_us[2]; /* from a step's due time until the GPU is free: median, 99th percentile */
    char error[80];     /* empty when all went well */
} serving_result;

/* Serves both lists of requests, in the order of arrival. Returns 0, or -1 with result->error. Cost: steps x log. */
int serving_run(const serving_model *decode, const serving_model *prefill, const serving_request *decode_requests,
                size_t decode_count, const serving_request *prefill_requests, size_t prefill_count,
                const serving_options *options, serving_result *result);
#endif
