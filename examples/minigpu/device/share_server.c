#define _GNU_SOURCE
#include "device/share_server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device_fields.h"

#define TEXTURES_MAX 256u /* of one program */
#define STREAMS_MAX 65536u

typedef enum program_state { COMPUTES, WAITS, HAS_ENDED } program_state;

typedef struct program {
    program_state state;
    int socket;
    share_message message; /* the request that the server has still to answer */
    uint32_t *modules;     /* the server's numbers of its modules */
    uint32_t module_count, texture_count;
    launch_buffer *buffers;
    uint32_t buffer_count;
    uint32_t first, kernel_count; /* its kernels among those of the round */
    share_counts counts;
} program;

struct share_server {
    device *device;
    device_share share;
    program programs[SHARE_PROGRAMS_MAX];
    uint32_t program_count;
    uint64_t starts[DEVICE_STARTED_MAX], ends[DEVICE_STARTED_MAX];
    uint64_t common_rounds;
    int failed;
};

share_server *share_server_open(device_options *options, char error[LAUNCH_ERROR_BYTES]) {
    share_server *s = (share_server *)calloc(1, sizeof *s);
    if (!s) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for a shared machine");
        return NULL;
    }
    s->share.memory = memfd_create("minigpu", MFD_CLOEXEC);
    s->share.socket = -1;
    s->share.part = NONE;
    s->share.most = DEVICE_STARTED_MAX;
    options->share = &s->share;
    options->runs_once = 1; /* the allocations change with each round */
    if (s->share.memory < 0 || ftruncate(s->share.memory, (off_t)ALLOCATIONS_FILE_BYTES)) {
        snprintf(error, LAUNCH_ERROR_BYTES, "the system gives no memory that processes can share");
        share_server_close(s);
        return NULL;
    }
    s->device = device_open(options, error);
    if (s->device) return s;
    share_server_close(s);
    return NULL;
}

int share_server_memory(const share_server *s) { return s->share.memory; }

uint32_t share_server_add(share_server *s, int socket) {
    share_message m = {0};
    program *p = &s->programs[s->program_count];
    if (s->program_count == SHARE_PROGRAMS_MAX) return NONE;
    p->socket = socket;
    share_put(&m, device_config(s->device), sizeof(minigpu_config));
    share_send(socket, &m);
    share_message_free(&m);
    return s->program_count++;
}

/* ==== what a program sends ==== */

static int take_module(share_server *s, program *p, char error[LAUNCH_ERROR_BYTES]) {
    const char *name = share_take_text(&p->message), *text = share_take_text(&p->message);
    const uint64_t const_base = share_take_u64(&p->message), global_base = share_take_u64(&p->message);
    const uint32_t n = device_load_placed(s->device, text, strlen(text), name, const_base, global_base, error);
    uint32_t *grown = n == NONE ? NULL : (uint32_t *)realloc(p->modules, (p->module_count + 1u) * sizeof *grown);
    if (!grown) return -1;
    p->modules = grown;
    p->modules[p->module_count++] = n;
    return 0;
}

static int take_buffers(program *p, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t count = share_take_u32(&p->message);
    uint32_t i;
    free(p->buffers);
    p->buffers = NULL;
    p->buffer_count = 0;
    if (count > (p->message.count - p->message.at) / sizeof *p->buffers) {
        snprintf(error, LAUNCH_ERROR_BYTES, "a program's message announces more allocations than it holds");
        return -1;
    }
    p->buffers = (launch_buffer *)calloc(count + 1u, sizeof *p->buffers);
    if (!p->buffers) {
        snprintf(error, LAUNCH_ERROR_BYTES, "out of memory for allocations");
        return -1;
    }
    for (i = 0; i < count; i++) {
        launch_buffer *b = &p->buffers[i];
        share_take(&p->message, b, sizeof *b);
        b->name = (char *)(uintptr_t)share_take_text(&p->message); /* the message stays until the round is over */
        if (b->symbol) b->symbol = b->name;
    }
    p->buffer_count = count;
    return 0;
}

static int take_textures(share_server *s, program *p, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t first = (uint32_t)(p - s->programs) * TEXTURES_MAX, count = share_take_u32(&p->message);
    uint32_t i;
    if (count > TEXTURES_MAX) {
        snprintf(error, LAUNCH_ERROR_BYTES, "a program that shares a machine has at most %u textures", TEXTURES_MAX);
        return -1;
    }
    for (i = 0; i < count; i++) {
        lanes_texture texture;
        share_take(&p->message, &texture, sizeof texture);
        if (device_set_texture(s->device, first + i, &texture)) return -1;
    }
    p->texture_count = count;
    return 0;
}

/* Handles of the program's textures become those of the server. */
static void number_textures(const share_server *s, const program *p, const kernel_program *kernel,
                            uint8_t *parameters) {
    uint32_t i;
    for (i = 0; i < kernel->parameter_count; i++) {
        uint64_t word;
        if (kernel->parameters[i].bytes != 8) continue;
        memcpy(&word, parameters + kernel->parameters[i].offset, 8);
        if (word - DEVICE_TEXTURE_HANDLE >= p->texture_count) continue;
        word += (uint64_t)(p - s->programs) * TEXTURES_MAX;
        memcpy(parameters + kernel->parameters[i].offset, &word, 8);
    }
}

static int take_launch(share_server *s, program *p, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t at = device_started(s->device);
    uint8_t parameters[DEVICE_PARAMETER_BYTES_MAX];
    const kernel_program *kernel;
    device_launch l;
    uint32_t bytes;
    share_take(&p->message, &l, sizeof l);
    l.kernel = share_take_text(&p->message);
    bytes = share_take_u32(&p->message);
    if (bytes > sizeof parameters || l.module >= p->module_count) {
        snprintf(error, LAUNCH_ERROR_BYTES, "a program's message holds no launch");
        return -1;
    }
    share_take(&p->message, parameters, bytes);
    l.module = p->modules[l.module];
    kernel = ptx_find_kernel(device_module(s->device, l.module), l.kernel);
    if (kernel) number_textures(s, p, kernel, parameters);
    l.parameters = parameters;
    l.stream += (uint32_t)(p - s->programs) * STREAMS_MAX;
    l.start_cycle = &s->starts[at];
    l.end_cycle = &s->ends[at];
    return device_start(s->device, &l, error);
}

static int take_launches(share_server *s, program *p, char error[LAUNCH_ERROR_BYTES]) {
    const uint32_t count = share_take_u32(&p->message);
    uint32_t i;
    if (device_started(s->device) + count > DEVICE_STARTED_MAX) {
        snprintf(error, LAUNCH_ERROR_BYTES, "the programs launch more than %u kernels at once", DEVICE_STARTED_MAX);
        return -1;
    }
    p->first = device_started(s->device);
    for (i = 0; i < count; i++)
        if (take_launch(s, p, error)) return -1;
    p->kernel_count = count;
    return p->message.failed ? -1 : 0;
}

/* ==== rounds ==== */

/* The allocations of all programs: their parts of the memory lie in the order of the programs. */
static int join_allocations(share_server *s) {
    launch_buffer *all;
    uint32_t i, count = 0;
    int failed;
    for (i = 0; i < s->program_count; i++) count += s->programs[i].buffer_count;
    if (!(all = (launch_buffer *)malloc((count + 1u) * sizeof *all))) return -1;
    for (i = count = 0; i < s->program_count; i++) {
        const program *p = &s->programs[i];
        if (p->buffer_count) memcpy(all + count, p->buffers, p->buffer_count * sizeof *all);
        count += p->buffer_count;
    }
    failed = allocations_replace(&s->device->memory, all, count);
    free(all);
    return failed;
}

static int take(share_server *s, program *p, char error[LAUNCH_ERROR_BYTES]) {
    uint32_t count = share_take_u32(&p->message);
    while (count-- && !p->message.failed)
        if (take_module(s, p, error)) return -1;
    return take_buffers(p, error) || take_textures(s, p, error) || take_launches(s, p, error) ? -1 : 0;
}

static void answer(share_server *s, program *p, int failed, const char *error) {
    share_message m = {0};
    uint32_t i;
    share_put_u32(&m, (uint32_t)failed);
    share_put_text(&m, error);
    share_put_u64(&m, device_cycle(s->device));
    for (i = 0; i < p->kernel_count; i++) {
        share_put_u64(&m, s->starts[p->first + i]);
        share_put_u64(&m, s->ends[p->first + i]);
        if (s->ends[p->first + i] > p->counts.end_cycle) p->counts.end_cycle = s->ends[p->first + i];
    }
    p->counts.launches += p->kernel_count;
    p->counts.rounds++;
    share_send(p->socket, &m); /* a program that has ended meanwhile closes its socket */
    share_message_free(&m);
    p->state = COMPUTES;
}

static void run_round(share_server *s) {
    char error[LAUNCH_ERROR_BYTES] = "";
    uint32_t i, waiting = 0;
    int failed = 0;
    memset(s->starts, 0, sizeof s->starts);
    memset(s->ends, 0, sizeof s->ends);
    for (i = 0; i < s->program_count; i++) {
        program *p = &s->programs[i];
        p->kernel_count = 0;
        if (p->state != WAITS) continue;
        waiting++;
        failed |= take(s, p, error);
    }
    if (!failed) failed = join_allocations(s) || device_run(s->device, error);
    if (failed && !error[0]) snprintf(error, sizeof error, "out of memory in the shared machine");
    device_drop_started(s->device);
    s->common_rounds += waiting > 1;
    s->failed |= failed;
    for (i = 0; i < s->program_count; i++)
        if (s->programs[i].state == WAITS) answer(s, &s->programs[i], failed != 0, error);
}

static void end_program(program *p) {
    close(p->socket);
    p->state = HAS_ENDED;
    p->buffer_count = 0;
}

/* Waits until a program sends its kernels, or ends. Returns 0 when no program computes. */
static int wait_for_programs(share_server *s) {
    struct pollfd sockets[SHARE_PROGRAMS_MAX];
    program *who[SHARE_PROGRAMS_MAX];
    uint32_t i, count = 0;
    for (i = 0; i < s->program_count; i++) {
        if (s->programs[i].state != COMPUTES) continue;
        who[count] = &s->programs[i];
        sockets[count].fd = s->programs[i].socket;
        sockets[count++].events = POLLIN;
    }
    if (!count) return 0;
    if (poll(sockets, count, -1) < 0) return 1;
    for (i = 0; i < count; i++) {
        if (!(sockets[i].revents & (POLLIN | POLLHUP | POLLERR))) continue;
        if (share_receive(who[i]->socket, &who[i]->message))
            end_program(who[i]);
        else
            who[i]->state = WAITS;
    }
    return 1;
}

int share_server_run(share_server *s) {
    uint32_t i, waiting;
    for (;;) {
        while (wait_for_programs(s)) {}
        for (i = waiting = 0; i < s->program_count; i++) waiting += s->programs[i].state == WAITS;
        if (!waiting) return s->failed ? -1 : 0;
        run_round(s);
    }
}

const share_counts *share_server_counts(const share_server *s, uint32_t part) { return &s->programs[part].counts; }
uint64_t share_server_common_rounds(const share_server *s) { return s->common_rounds; }

void share_server_close(share_server *s) {
    uint32_t i;
    if (!s) return;
    if (s->device) allocations_replace(&s->device->memory, NULL, 0); /* names belong to the messages */
    device_close(s->device);
    for (i = 0; i < s->program_count; i++) {
        share_message_free(&s->programs[i].message);
        free(s->programs[i].modules);
        free(s->programs[i].buffers);
    }
    if (s->share.memory >= 0) close(s->share.memory);
    free(s);
}
