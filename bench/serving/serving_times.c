/* What a step of a language model takes: measured operators, and straight lines between them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serving.h"

enum { ATTENTION = 3 };
const char *const serving_operator_names[SERVING_OPERATORS] = {"input_layernorm",
                                                               "attn_pre_proj",
                                                               "attn_rope",
                                                               "attention",
                                                               "attn_post_proj",
                                                               "add",
                                                               "post_attention_layernorm",
                                                               "mlp_up_proj",
                                                               "mlp_act",
                                                               "mlp_down_proj",
                                                               "add"};

/* Public descriptions of the models: layers, widths, heads. */
static const struct {
    const char *name;
    uint32_t layers, hidden, inner, query_heads, kv_heads;
} shapes[] = {{"Llama-2-7b", 32, 4096, 11008, 32, 32}, {"CodeLlama-34b", 48, 8192, 22016, 64, 8}};

/* Dense 16-bit arithmetic without sparsity, and bandwidth, of the data sheets of H100 SXM and A100 SXM. */
static const struct {
    const char *device, *preset;
    double flops, bytes;
} devices[] = {{"H100", "h100", 989e12, 3.35e12}, {"A100", "a100", 312e12, 2.039e12}};

static int add_point(serving_curve *curve, double x, double us) {
    if (curve->count == SERVING_POINTS) return 0;
    curve->x[curve->count] = x;
    curve->us[curve->count++] = us;
    return 1;
}

static int read_row(serving_model *model, const csv_table *table, size_t row, const char *device) {
    const char *operator_name = csv_text(table, row, "operator");
    double us, tokens, kv = 0;
    if (strcmp(csv_text(table, row, "device"), device) || !csv_number(table, row, "time_us", &us) ||
        !csv_number(table, row, "tokens", &tokens))
        return 1;
    csv_number(table, row, "kv_cache", &kv);
    if (!strcmp(csv_text(table, row, "model"), "gemm"))
        return add_point(&model->head[strcmp(operator_name, "gemm_n65536_k4096") == 0], tokens, us);
    if (strcmp(csv_text(table, row, "model"), model->name)) return 1;
    if (!strcmp(operator_name, "emb")) return add_point(&model->embedding, tokens, us);
    if (!strcmp(csv_text(table, row, "phase"), "decode")) {
        uint32_t i = model->attention_count;
        if (!i || model->attention[i - 1].batch != (uint32_t)tokens) {
            if (i == SERVING_BATCHES) return 0;
            model->attention[model->attention_count++].batch = (uint32_t)tokens;
        }
        return add_point(&model->attention[model->attention_count - 1], kv, us);
    }
    for (uint32_t i = 0; i < SERVING_OPERATORS; i++)
        if (!strcmp(operator_name, serving_operator_names[i]) && !add_point(&model->operators[i], tokens, us)) return 0;
    return 1;
}

int serving_model_read(serving_model *model, const csv_table *operators, const char *device, const char *name,
                       char *error, size_t error_bytes) {
    int found = 0;
    memset(model, 0, sizeof *model);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(shapes[i].name, name)) {
            snprintf(model->name, sizeof model->name, "%s", name);
            model->layers = shapes[i].layers;
            model->hidden = shapes[i].hidden;
            model->inner = shapes[i].inner;
            model->query_heads = shapes[i].query_heads;
            model->kv_heads = shapes[i].kv_heads;
            found |= 1;
        }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (!strcmp(devices[i].device, device)) {
            model->flops_per_byte = devices[i].flops / devices[i].bytes;
            if (gpump_preset(&gpump_gpu_component, &model->gpu, devices[i].preset, NULL) == GPUMP_OK) found |= 2;
        }
    if (found != 3) {
        snprintf(error, error_bytes,
                 "no times of %s on %s: models are Llama-2-7b and CodeLlama-34b, devices H100 and A100", name, device);
        return 0;
    }
    for (size_t row = 0; row < operators->rows; row++)
        if (!read_row(model, operators, row, device)) {
            snprintf(error, error_bytes, "row %zu of the operators is one too many for its curve", row + 1);
            return 0;
        }
    if (!model->attention_count || !model->embedding.count || !model->head[0].count || !model->head[1].count) found = 0;
    for (uint32_t i = 0; i < SERVING_OPERATORS; i++)
        if (!model->operators[i].count) found = 0;
    if (!found) snprintf(error, error_bytes, "the table has not all operators of %s on %s", name, device);
    return found != 0;
}

/* Returns the time at x: a straight line between two points, before the first the first, behind the last the last two
 * points' line. */
static double on_line(const serving_curve *curve, double x) {
    uint32_t i = 1;
    if (x <= curve->x[0] || curve->count == 1) return curve->us[0];
    while (i + 1 < curve->count && curve->x[i] < x) i++;
    return curve->us[i - 1] +
           (curve->us[i] - curve->us[i - 1]) * (x - curve->x[i - 1]) / (curve->x[i] - curve->x[i - 1]);
}

/* Tokens beyond the largest measured number run in several kernels of that size. */
static double dense(const serving_curve *curve, double tokens) {
    const double most = curve->x[curve->count - 1], whole = floor(tokens / most), rest = tokens - whole * most;
    return whole * curve->us[curve->count - 1] + (rest > 0 ? on_line(curve, rest) : 0);
}

static double decode_attention(const serving_model *model, double requests, double kv_tokens) {
    uint32_t i = 1;
    double low, high, share;
    while (i + 1 < model->attention_count && model->attention[i].batch < requests) i++;
    low = on_line(&model->attention[i - 1], kv_tokens);
    high = on_line(&model->attention[i], kv_tokens);
    share = (requests - model->attention[i - 1].batch) / (model->attention[i].batch - model->attention[i - 1].batch);
    return low + (high - low) * (share > 0 ? share : 0);
}

/* The output layer, of 32,000 words: between the two measured widths, and twice as deep for twice the width of a
 * token. */
static double output_layer(const serving_model *model, double tokens) {
    const double narrow = on_line(&model->head[0], tokens), wide = on_line(&model->head[1], tokens);
    return (narrow + (wide - narrow) * (32000.0 - 16384) / (65536 - 16384)) * model->hidden / 4096;
}

/* Columns of a matrix product's result, and the depth of its sums; 0: the operator is no product. */
static void product_shape(const serving_model *model, uint32_t number, double *columns, double *depth) {
    const double hidden = model->hidden, inner = model->inner;
    const double heads = (model->query_heads + 2.0 * model->kv_heads) / model->query_heads;
    const double shape[SERVING_OPERATORS][2] = {
        {0, 0}, {hidden * heads, hidden}, {0, 0}, {0, 0}, {hidden, hidden}, {0, 0}, {0, 0}, {2 * inner, hidden},
        {0, 0}, {hidden, inner},          {0, 0}};
    *columns = shape[number][0];
    *depth = shape[number][1];
}

static double waves_of(const serving_model *model, double blocks, double per_sm) {
    const double waves = ceil(blocks / (model->gpu.sms * per_sm));
    return waves > 1 ? waves : 1;
}

/* Assumed: a product has tiles of 128 by 256 with one block on an SM; attention has a block for 128 rows of a head; the
 * others have a block for a token, two on an SM. */
static void describe(const serving_model *model, uint32_t number, double tokens, int is_prefill,
                     serving_kernel *kernel) {
    double columns, depth;
    product_shape(model, number, &columns, &depth);
    kernel->in_place = number == 2 || number == 5 || number == 10; /* rotation of positions, additions */
    if (number == ATTENTION) {
        kernel->waves = waves_of(model, ceil(tokens / (is_prefill ? 128 : 1)) * model->query_heads, 1);
        kernel->is_compute = is_prefill;
    } else if (columns > 0) {
        const double flops = 2 * tokens * columns * depth, bytes = 2 * (tokens * (columns + depth) + columns * depth);
        kernel->waves = waves_of(model, ceil(tokens / 128) * ceil(columns / 256), 1);
        kernel->is_compute = flops / bytes > model->flops_per_byte;
    } else {
        kernel->waves = waves_of(model, tokens, 2);
        kernel->is_compute = 0;
    }
}

static void sum_up(serving_step *step) {
    step->layer_us = 0;
    for (uint32_t i = 0; i < SERVING_OPERATORS; i++) step->layer_us += step->operators[i].us;
    step->total_us = step->first.us + step->layers * step->layer_us + step->last.us;
}

static void fill(const serving_model *model, double tokens, double attention_us, double outputs, int is_prefill,
                 serving_step *step) {
    memset(step, 0, sizeof *step);
    step->layers = model->layers;
    step->first.us = dense(&model->embedding, tokens);
    step->first.waves = waves_of(model, tokens, 2);
    step->last.us = output_layer(model, outputs);
    step->last.waves = waves_of(model, 125 * ceil(outputs / 128), 1);
    for (uint32_t i = 0; i < SERVING_OPERATORS; i++) {
        describe(model, i, tokens, is_prefill, &step->operators[i]);
        step->operators[i].us = i == ATTENTION ? attention_us : dense(&model->operators[i], tokens);
    }
    sum_up(step);
}

void serving_prefill(const serving_model *model, double tokens, serving_step *step) {
    fill(model, tokens, on_line(&model->operators[ATTENTION], tokens), 1, 1, step);
}

void serving_decode(const serving_model *model, double requests, double kv_tokens, serving_step *step) {
    fill(model, requests, decode_attention(model, requests, kv_tokens), requests, 0, step);
}

void serving_scale(serving_step *step, double compute, double memory) {
    step->first.us *= memory;
    step->last.us *= memory;
    for (uint32_t i = 0; i < SERVING_OPERATORS; i++)
        step->operators[i].us *= step->operators[i].is_compute ? compute : memory;
    sum_up(step);
}

serving_place serving_find(const serving_step *step, double us) {
    serving_place place = {&step->first, 0, us};
    double layer;
    if (us < step->first.us) return place;
    us -= step->first.us;
    layer = floor(us / step->layer_us);
    if (layer >= step->layers) {
        place.kernel = &step->last;
        place.number = 1 + step->layers * SERVING_OPERATORS;
        place.inside_us = us - step->layers * step->layer_us;
        return place;
    }
    us -= layer * step->layer_us;
    for (place.number = 0; place.number + 1 < SERVING_OPERATORS; place.number++) {
        if (us < step->operators[place.number].us) break;
        us -= step->operators[place.number].us;
    }
    place.kernel = &step->operators[place.number];
    place.number += 1 + (uint32_t)layer * SERVING_OPERATORS;
    place.inside_us = us;
    return place;
}

double serving_kernel_end(const serving_step *step, uint32_t number) {
    const uint32_t layer = number ? (number - 1) / SERVING_OPERATORS : 0;
    double us = step->first.us + layer * step->layer_us;
    if (number == 0) return step->first.us;
    if (layer >= step->layers) return step->total_us;
    for (uint32_t i = 0; i <= (number - 1) % SERVING_OPERATORS; i++) us += step->operators[i].us;
    return us;
}
