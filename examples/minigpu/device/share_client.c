#define _GNU_SOURCE
#include "device/share_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/share_message.h"

static int machine_is_gone(char error[LAUNCH_ERROR_BYTES]) {
    snprintf(error, LAUNCH_ERROR_BYTES, "the machine that this program shares has ended");
    return -1;
}

int share_client_open(device *d, char error[LAUNCH_ERROR_BYTES]) {
    share_message m = {0};
    if (share_receive(d->options->share->socket, &m)) return machine_is_gone(error);
    share_take(&m, &d->config, sizeof d->config);
    share_message_free(&m);
    return 0;
}

int share_client_keep(share_texts *texts, uint32_t module, const char *text, size_t length) {
    char **grown = (char **)realloc(texts->texts, (module + 1u) * sizeof *grown);
    if (!grown) return -1;
    texts->texts = grown;
    if (!(grown[module] = strndup(text, length))) return -1;
    texts->count = module + 1;
    return 0;
}

static void put_modules(device *d, share_message *m) {
    uint32_t i, count = 0;
    for (i = 0; i < d->texts.count; i++) count += d->texts.texts[i] != NULL;
    share_put_u32(m, count);
    for (i = 0; i < d->texts.count; i++) {
        if (!d->texts.texts[i]) continue;
        share_put_text(m, d->modules[i].file_name);
        share_put_text(m, d->texts.texts[i]);
        share_put_u64(m, d->const_bases[i]);
        share_put_u64(m, d->global_bases[i]);
        free(d->texts.texts[i]);
        d->texts.texts[i] = NULL;
    }
}

static void put_allocations(const device *d, share_message *m) {
    uint32_t i;
    share_put_u32(m, d->memory.count);
    for (i = 0; i < d->memory.count; i++) {
        share_put(m, &d->memory.buffers[i], sizeof d->memory.buffers[i]);
        share_put_text(m, d->memory.buffers[i].name ? d->memory.buffers[i].name : "?");
    }
    share_put_u32(m, d->texture_count);
    share_put(m, d->textures, d->texture_count * sizeof *d->textures);
}

static void put_launches(const device *d, share_message *m) {
    uint32_t i;
    share_put_u32(m, d->kernel_count);
    for (i = 0; i < d->kernel_count; i++) {
        const device_launch *l = &d->launches[i];
        const kernel_program *program = ptx_find_kernel(&d->modules[l->module], d->kernels[i].name);
        share_put(m, l, sizeof *l); /* its pointers mean nothing to the other process */
        share_put_text(m, d->kernels[i].name);
        share_put_u32(m, program->parameter_bytes);
        share_put(m, d->parameters[i], program->parameter_bytes);
    }
}

static int take_answer(device *d, share_message *m, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t failed = share_take_u32(m);
    uint32_t i;
    snprintf(error, LAUNCH_ERROR_BYTES, "%s", share_take_text(m));
    device_wait_until(d, share_take_u64(m));
    for (i = 0; i < d->kernel_count; i++) {
        const uint64_t start = share_take_u64(m), end = share_take_u64(m);
        if (d->launches[i].start_cycle) *d->launches[i].start_cycle = start;
        if (d->launches[i].end_cycle) *d->launches[i].end_cycle = end;
    }
    return failed || m->failed ? -1 : 0;
}

/* What the other process cannot do for this program. */
static const char *refusal(const device *d) {
    uint32_t i;
    if (d->memory.lent.opens_host) return "cudaHostRegister: memory of the program is not shared with the machine";
    for (i = 0; i < d->bound_count; i++)
        if (d->bound[i].count) return "texture references are not shared with the machine; texture objects are";
    return NULL;
}

int share_client_run(device *d, char error[LAUNCH_ERROR_BYTES]) {
    const int socket = d->options->share->socket;
    share_message m = {0};
    const char *why = refusal(d);
    int failed;
    if (why) {
        snprintf(error, LAUNCH_ERROR_BYTES, "%s", why);
        device_drop_started(d);
        return -1;
    }
    put_modules(d, &m);
    put_allocations(d, &m);
    put_launches(d, &m);
    failed = share_send(socket, &m) || share_receive(socket, &m) ? machine_is_gone(error) : take_answer(d, &m, error);
    share_message_free(&m);
    device_drop_started(d);
    return failed;
}
