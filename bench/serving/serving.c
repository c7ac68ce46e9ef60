/* serving [OPTION...]: prefill of one language model beside decode of another on one GPU, by ten ways to share it, as
 * CSV. docs/serving.md has the question and the answer; docs/pictures/serving.gnuplot draws the table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../rows/rows_silicon.h"
#include "output.h"
#include "serving.h"
#include "sorted.h"

enum { MOST_TIMES = 10 };

static const char usage[] =
    "usage: serving [--device H100|A100] [--decode MODEL] [--prefill MODEL] [--prompts conv|code|batch]\n"
    "               [--way NAME] [--rate TIMES] [--minutes N] [--interval-ms N] [--command LEAST:SPREAD:MEAN]\n"
    "       serving --step prefill:TOKENS | decode:REQUESTS:TOKENS   prints the operators of one step\n"
    "Serves an hour of requests: one model generates tokens for conversations, another reads prompts. Models are\n"
    "Llama-2-7b (the default) and CodeLlama-34b. Prints the times to the first token and between tokens.\n"
    "  --prompts LIST     conv: conversations, from the middle of the hour on; code: completion of code;\n"
    "                     batch: prompts of 4,096 tokens without end\n"
    "  --rate TIMES       prompts arrive so many times as often as in the list, 10 at most; default: 0.2 to 2\n"
    "  --minutes N        the part of the hour that is served, default 60\n"
    "  --interval-ms N    a step of the decode is due so often, default 25\n"
    "  --command L:S:M    cost of a driver's command in us, at least, spread, mean; default: a GV100's\n"
    "Ways: none level1 level2 level3 kernel drain switch flush spatial alone. Exit status: 0 done; 2 wrong use.\n";

typedef struct arguments {
    const char *device, *decode, *prefill, *prompts, *way, *step;
    double rate, minutes, interval_ms, command_us[3];
} arguments;

static int complain(const char *sentence, const char *what) {
    fprintf(stderr, "serving: %s: %s\n", what, sentence);
    return 2;
}

static int number(const char *option, const char *text, double most, double *value) {
    char *end;
    *value = strtod(text, &end);
    if (*text && !*end && *value > 0 && *value <= most) return 0;
    fprintf(stderr, "serving: %s %s: must be a number above 0, at most %g\n", option, text, most);
    return 2;
}

static int read_command(const char *text, double us[3]) {
    char more;
    if (sscanf(text, "%lf:%lf:%lf%c", &us[0], &us[1], &us[2], &more) == 3 && us[0] >= 0 && us[1] >= 0 && us[2] < 1e6 &&
        us[2] >= us[0] + us[1] / 2)
        return 0;
    return complain("must be LEAST:SPREAD:MEAN in us, with a mean of at least LEAST + SPREAD / 2", text);
}

static int read_arguments(int argc, char **argv, arguments *a) {
    const struct {
        const char *name, **text;
        double *value, most;
    } options[] = {{"--device", &a->device, NULL, 0},
                   {"--decode", &a->decode, NULL, 0},
                   {"--prefill", &a->prefill, NULL, 0},
                   {"--prompts", &a->prompts, NULL, 0},
                   {"--way", &a->way, NULL, 0},
                   {"--step", &a->step, NULL, 0},
                   {"--rate", NULL, &a->rate, MOST_TIMES},
                   {"--minutes", NULL, &a->minutes, 60},
                   {"--interval-ms", NULL, &a->interval_ms, 10000}};
    for (int i = 1; i < argc; i += 2) {
        size_t o = 0;
        if (i + 1 == argc) return complain("has no value; serving --help has the options", argv[i]);
        if (!strcmp(argv[i], "--command")) {
            if (read_command(argv[i + 1], a->command_us)) return 2;
            continue;
        }
        while (o < sizeof options / sizeof *options && strcmp(argv[i], options[o].name)) o++;
        if (o == sizeof options / sizeof *options) return complain("unknown; serving --help has the options", argv[i]);
        if (options[o].text)
            *options[o].text = argv[i + 1];
        else if (number(argv[i], argv[i + 1], options[o].most, options[o].value))
            return 2;
    }
    return 0;
}

/* Reads a table of bench/data. Returns 1, or 0 after a report. */
static int read_table(csv_table *table, const char *name) {
    char path[1024], error[300];
    snprintf(path, sizeof path, "%s/serving_%s.csv", SERVING_DATA_DIR, name);
    if (csv_read(table, path, error, sizeof error)) return 1;
    fprintf(stderr, "serving: %s\n", error);
    return 0;
}

/* Reads requests that arrive before end_us. Returns NULL after a report. */
static serving_request *read_requests(const char *name, double end_us, size_t *count) {
    csv_table table;
    serving_request *requests;
    if (!read_table(&table, name)) return NULL;
    requests = (serving_request *)calloc(table.rows + 1, sizeof *requests);
    for (*count = 0; requests && *count < table.rows; ++*count) {
        serving_request *r = &requests[*count];
        if (!csv_number(&table, *count, "arrival_s", &r->arrival_us) ||
            !csv_number(&table, *count, "input_tokens", &r->input_tokens) ||
            !csv_number(&table, *count, "output_tokens", &r->output_tokens)) {
            fprintf(stderr, "serving: row %zu of serving_%s.csv is no request\n", *count + 1, name);
            free(requests);
            requests = NULL;
            break;
        }
        r->arrival_us *= 1e6;
        if (r->arrival_us >= end_us) break;
    }
    csv_free(&table);
    return requests;
}

static int by_arrival(const void *a, const void *b) {
    return sorted_compare(&((const serving_request *)a)->arrival_us, &((const serving_request *)b)->arrival_us);
}

/* Lets a list begin in the middle of its time, so that it is not the same as the other service's. */
static void begin_in_the_middle(serving_request *requests, size_t count, double end_us) {
    for (size_t i = 0; i < count; i++) requests[i].arrival_us = fmod(requests[i].arrival_us + end_us / 2, end_us);
    qsort(requests, count, sizeof *requests, by_arrival);
}

/* Prints the operators of a step. */
static int print_step(const arguments *a, const serving_model *decode, const serving_model *prefill) {
    serving_step step;
    double tokens, requests;
    char more;
    if (sscanf(a->step, "prefill:%lf%c", &tokens, &more) == 1 && tokens >= 1 && tokens <= 65536)
        serving_prefill(prefill, tokens, &step);
    else if (sscanf(a->step, "decode:%lf:%lf%c", &requests, &tokens, &more) == 2 && requests >= 1 && requests <= 512 &&
             tokens >= 1 && tokens <= 65536)
        serving_decode(decode, requests, tokens, &step);
    else
        return complain("must be prefill:TOKENS or decode:REQUESTS:TOKENS, with 65536 tokens and 512 requests at most",
                        a->step);
    printf("operator,times,us,waves,bound\nemb,1,%g,%g,memory\n", step.first.us, step.first.waves);
    for (uint32_t i = 0; i < SERVING_OPERATORS; i++)
        printf("%s,%u,%g,%g,%s\n", serving_operator_names[i], step.layers, step.operators[i].us,
               step.operators[i].waves, step.operators[i].is_compute ? "arithmetic" : "memory");
    printf("output,1,%g,%g,memory\nstep,1,%g,,\n", step.last.us, step.last.waves, step.total_us);
    return 0;
}

typedef struct lists {
    serving_request *decode, *prompts, *faster;
    size_t decode_count, prompt_count;
} lists;

/* Fills the time with the list, played so many times as fast and again from its beginning. Returns the number of
 * requests. */
static size_t play_faster(const lists *l, double rate, double end_us) {
    const size_t count = (size_t)(rate * (double)l->prompt_count);
    for (size_t i = 0; i < count; i++) {
        l->faster[i] = l->prompts[i % l->prompt_count];
        l->faster[i].arrival_us = (l->faster[i].arrival_us + (double)(i / l->prompt_count) * end_us) / rate;
    }
    return count;
}

/* Prints a field of a line; an empty one where there is no value. */
static void put(double value, int digits) {
    if (isnan(value))
        printf(",");
    else
        printf(",%.*f", digits, value);
}

/* Serves at one rate in one way, and prints a line. Returns 0, or 1 after a report. */
static int serve(const arguments *a, const serving_model *decode, const serving_model *prefill, const lists *l,
                 serving_way way, double rate) {
    serving_options options;
    serving_result r;
    memset(&options, 0, sizeof options);
    options.way = way;
    options.interval_us = a->interval_ms * 1e3;
    options.end_us = a->minutes * 60e6;
    options.is_batch = strcmp(a->prompts, "batch") == 0;
    memcpy(options.command_us, a->command_us, sizeof options.command_us);
    options.first_limit_us = 1e6;
    options.token_limit_us = 50e3;
    if (serving_run(decode, prefill, l->decode, l->decode_count, l->faster, play_faster(l, rate, options.end_us),
                    &options, &r)) {
        fprintf(stderr, "serving: %s\n", r.error);
        return 1;
    }
    printf("%s", serving_way_names[way]);
    put(options.is_batch ? NAN : rate * (double)l->prompt_count / options.end_us * 1e6, 1);
    for (int i = 0; i < 2; i++) put(r.first_us[i] / 1e3, 1);
    for (int i = 0; i < 2; i++) put(r.token_us[i] / 1e3, 2);
    put(r.prefill_within, 4);
    put(r.decode_within, 4);
    put(r.busy, 3);
    put(r.tokens_per_s, 0);
    put((double)r.preemptions, 0);
    for (int i = 0; i < 2; i++) put(r.leave_us[i], 0);
    puts("");
    fflush(stdout);
    return 0;
}

static int serve_all(const arguments *a, const serving_model *decode, const serving_model *prefill, const lists *l) {
    static const double rates[] = {0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2};
    const int is_batch = strcmp(a->prompts, "batch") == 0; /* it has no rate */
    puts("way,prompts_per_s,first_p50_ms,first_p99_ms,token_p50_ms,token_p99_ms,prefill_within,decode_within,busy,"
         "prompt_tokens_per_s,preemptions,leave_p50_us,leave_p99_us");
    for (int way = 0; way < SERVING_WAYS; way++) {
        if (a->way && strcmp(a->way, serving_way_names[way])) continue;
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            if (a->rate > 0 ? i > 0 : is_batch && i > 0) break;
            if (serve(a, decode, prefill, l, (serving_way)way, a->rate > 0 ? a->rate : rates[i])) return 1;
        }
    }
    return 0;
}

static int check_words(const arguments *a) {
    int way = 0;
    if (strcmp(a->prompts, "code") && strcmp(a->prompts, "conv") && strcmp(a->prompts, "batch"))
        return complain("must be code, conv or batch", a->prompts);
    while (a->way && way < SERVING_WAYS && strcmp(a->way, serving_way_names[way])) way++;
    return way == SERVING_WAYS ? complain("unknown way; serving --help has them", a->way) : 0;
}

int main(int argc, char **argv) {
    arguments a = {"H100", "Llama-2-7b", "Llama-2-7b", "conv", NULL, NULL, 0, 60, 25, GV100_COMMAND_US};
    static serving_model decode, prefill;
    lists l;
    csv_table operators;
    char error[200];
    int status = 2;
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return output_status(0, "serving");
    }
    if (read_arguments(argc, argv, &a) || check_words(&a) || !read_table(&operators, "operators")) return 2;
    memset(&l, 0, sizeof l);
    if (!serving_model_read(&decode, &operators, a.device, a.decode, error, sizeof error) ||
        !serving_model_read(&prefill, &operators, a.device, a.prefill, error, sizeof error)) {
        fprintf(stderr, "serving: %s\n", error);
    } else if (a.step) {
        status = print_step(&a, &decode, &prefill);
    } else {
        l.decode = read_requests("conv", a.minutes * 60e6, &l.decode_count);
        l.prompts = strcmp(a.prompts, "batch") ? read_requests(a.prompts, a.minutes * 60e6, &l.prompt_count) : NULL;
        if (l.prompts && !strcmp(a.prompts, "conv")) begin_in_the_middle(l.prompts, l.prompt_count, a.minutes * 60e6);
        l.faster = (serving_request *)calloc((size_t)(MOST_TIMES * (double)l.prompt_count) + 1, sizeof *l.faster);
        if (l.decode && l.faster && (l.prompts || !strcmp(a.prompts, "batch")))
            status = serve_all(&a, &decode, &prefill, &l);
    }
    free(l.decode);
    free(l.prompts);
    free(l.faster);
    csv_free(&operators);
    return output_status(status, "serving");
}
