#include "sm/runtime_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/translation.h"

#define TEXT_MAX 1024u      /* of one printf */
#define STRING_MAX 512u     /* of a string argument */
#define CONVERSIONS_MAX 32u /* of one printf, as in CUDA */
#define HEADER 16u          /* before each piece of the heap: its bytes with the header; and 1 when it is in use */

static uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

static void fail(machine *m, const in_flight *r, uint32_t lane, const char *what) {
    const block *b = &m->blocks[r->block];
    const kernel_program *program = m->kernels[b->kernel].program;
    machine_fail(m, "%s:%u:%u: kernel %s: %s, block %" PRIu64 " thread %u", program->file_name, r->instruction->line,
                 r->instruction->column, program->name, what, b->linear, m->warps[r->warp].index * LANES + lane);
}

/* ---- reading a lane's memory ---- */

/* Returns the place of a generic address of a lane; NULL when that many bytes there do not all belong to memory of the
 * lane. */
static const uint8_t *place_of(machine *m, sm *s, const in_flight *r, uint32_t lane, uint64_t address, uint32_t bytes) {
    const block *b = &m->blocks[r->block];
    const kernel *k = &m->kernels[b->kernel];
    const uint64_t thread = m->warps[r->warp].index * LANES + lane;
    uint64_t offset;
    switch (generic_space(address, &offset)) {
    case SPACE_SHARED:
        return offset <= k->shared_bytes && bytes <= k->shared_bytes - offset ? s->shared + b->shared_base + offset
                                                                              : NULL;
    case SPACE_LOCAL:
        if (offset > k->program->local_bytes || bytes > k->program->local_bytes - offset) return NULL;
        return device_memory(m, b->local_base + thread * k->program->local_bytes + offset);
    case SPACE_PARAM:
        return offset <= k->program->parameter_bytes && bytes <= k->program->parameter_bytes - offset
                   ? k->parameters + offset
                   : NULL;
    default:
        return translate(m, offset, 0) == TRANSLATION_HIT && translate(m, offset + bytes - 1, 0) == TRANSLATION_HIT
                   ? sm_memory(m, s, offset)
                   : NULL;
    }
}

/* Copies a terminated string, cut to fit. Returns 0, or -1 when it leaves the lane's memory. */
static int read_string(machine *m, sm *s, const in_flight *r, uint32_t lane, uint64_t address, char *text,
                       uint32_t bytes) {
    uint32_t i;
    for (i = 0; i + 1 < bytes; i++) {
        const uint8_t *from = place_of(m, s, r, lane, address + i, 1);
        if (!from) return -1;
        text[i] = (char)*from;
        if (!*from) return 0;
    }
    text[i] = 0;
    return 0;
}

/* ---- printf ---- */

typedef struct text_out {
    char text[TEXT_MAX];
    uint32_t length;
} text_out;

static void append(text_out *out, const char *text, int length) {
    const uint32_t room = TEXT_MAX - 1 - out->length, take = length < 0                ? 0
                                                             : (uint32_t)length < room ? (uint32_t)length
                                                                                       : room;
    memcpy(out->text + out->length, text, take);
    out->length += take;
}

/* Reads one lane's arguments, which follow each other, each aligned to its size. */
typedef struct argument_reader {
    machine *m;
    sm *s;
    const in_flight *r;
    uint32_t lane, bad;
    uint64_t at;
} argument_reader;

static uint64_t next_argument(argument_reader *a, uint32_t bytes) {
    uint64_t value = 0;
    const uint8_t *from;
    a->at = align_up(a->at, bytes);
    from = place_of(a->m, a->s, a->r, a->lane, a->at, bytes);
    if (from)
        memcpy(&value, from, bytes);
    else
        a->bad = 1;
    a->at += bytes;
    return value;
}

/* A conversion specification, as snprintf takes it. */
typedef struct specification {
    char form[32];
    uint32_t length, longs; /* 1: the argument has 64 bits */
    int numbers[2], number; /* the arguments of '*' */
} specification;

/* Reads a specification up to its conversion character, behind its '%'. Returns the place of that character. */
static const char *read_specification(argument_reader *a, const char *format, specification *spec) {
    memset(spec, 0, sizeof *spec);
    spec->form[spec->length++] = '%';
    for (; *format && strchr("-+ #0123456789.*hlLjzt", *format); format++) {
        if (*format == '*' && spec->number < 2) spec->numbers[spec->number++] = (int)next_argument(a, 4);
        if (*format == 'l' || *format == 'j' || *format == 'z' || *format == 't')
            spec->longs = 1;
        else if (*format != 'L' && spec->length < sizeof spec->form - 4)
            spec->form[spec->length++] = *format;
    }
    if (!*format) return format;
    if (spec->longs && strchr("diouxX", *format)) {
        spec->form[spec->length++] = 'l';
        spec->form[spec->length++] = 'l';
    }
    spec->form[spec->length++] = *format;
    if (spec->length >= sizeof spec->form - 4) a->bad = 1;
    return format;
}

/* Writes one conversion; format points behind its '%'. Returns where the format continues. */
static const char *convert(argument_reader *a, const char *format, text_out *out) {
    char piece[STRING_MAX + 64], string[STRING_MAX];
    specification spec;
    format = read_specification(a, format, &spec);
    const char kind = *format;
    if (!kind) return format;
#define PIECE(value)                                                                       \
    (spec.number == 0   ? snprintf(piece, sizeof piece, spec.form, value)                  \
     : spec.number == 1 ? snprintf(piece, sizeof piece, spec.form, spec.numbers[0], value) \
                        : snprintf(piece, sizeof piece, spec.form, spec.numbers[0], spec.numbers[1], value))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    switch (kind) {
    case '%': append(out, "%", 1); break;
    case 'c':
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
        const uint64_t value = next_argument(a, spec.longs ? 8 : 4);
        append(out, piece, spec.longs ? PIECE((long long)value) : PIECE((int)(uint32_t)value));
        break;
    }
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
        const uint64_t bits = next_argument(a, 8);
        double value;
        memcpy(&value, &bits, 8);
        append(out, piece, PIECE(value));
        break;
    }
    case 'p': append(out, piece, snprintf(piece, sizeof piece, "0x%" PRIx64, next_argument(a, 8))); break;
    case 's':
        if (read_string(a->m, a->s, a->r, a->lane, next_argument(a, 8), string, sizeof string)) a->bad = 1;
        append(out, piece, a->bad ? 0 : PIECE(string));
        break;
    default: append(out, spec.form, (int)spec.length); /* not a conversion: copied as it is */
    }
#pragma GCC diagnostic pop
#undef PIECE
    return format + 1;
}

static void print_lane(machine *m, sm *s, in_flight *r, uint32_t lane) {
    const block *b = &m->blocks[r->block];
    char format[TEXT_MAX];
    const char *at = format;
    printed_entry *entry;
    argument_reader arguments = {m, s, r, lane, 0, 0};
    uint32_t conversions = 0;
    text_out out;
    out.length = 0;
    if (read_string(m, s, r, lane, lanes_get(&r->sources[0], lane), format, sizeof format)) {
        fail(m, r, lane, "printf's format is not in memory that the thread may read");
        return;
    }
    arguments.at = lanes_get(&r->sources[1], lane);
    while (*at) {
        const char *percent = strchr(at, '%');
        append(&out, at, (int)(percent ? (size_t)(percent - at) : strlen(at)));
        if (!percent) break;
        at = percent + 1;
        conversions += *at != '%';
        at = convert(&arguments, at, &out);
    }
    if (arguments.bad || conversions > CONVERSIONS_MAX) {
        fail(m, r, lane, "printf's arguments do not fit its format");
        return;
    }
    lanes_set(&r->results[0], lane, conversions);
    if (m->printed_count == m->printed_capacity || out.length > m->config.print_bytes - m->printed_bytes) {
        m->printed_lost++;
        lanes_set(&r->results[0], lane, UINT64_MAX);
        return;
    }
    entry = &m->printed[m->printed_count++];
    entry->block = b->linear;
    entry->kernel = b->kernel;
    entry->thread = m->warps[r->warp].index * LANES + lane;
    entry->start = m->printed_bytes;
    entry->length = out.length;
    memcpy(m->printed_text + m->printed_bytes, out.text, out.length);
    m->printed_bytes += out.length;
}

/* Compares by kernel, block and thread. The texts of one thread keep their order. */
static int by_thread(const void *first, const void *second) {
    const printed_entry *a = (const printed_entry *)first, *b = (const printed_entry *)second;
    if (a->kernel != b->kernel) return a->kernel < b->kernel ? -1 : 1;
    if (a->block != b->block) return a->block < b->block ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

static printed_entry *in_order(const machine *m) {
    printed_entry *entries = (printed_entry *)malloc((m->printed_count + 1u) * sizeof *entries);
    if (!entries) return NULL;
    if (m->printed_count) {
        memcpy(entries, m->printed, m->printed_count * sizeof *entries);
        qsort(entries, m->printed_count, sizeof *entries, by_thread);
    }
    return entries;
}

void runtime_calls_print(const machine *m, void *output) {
    FILE *file = (FILE *)output;
    printed_entry *entries = in_order(m);
    uint32_t i;
    for (i = 0; entries && i < m->printed_count; i++)
        fwrite(m->printed_text + entries[i].start, 1, entries[i].length, file);
    if (m->printed_lost)
        fprintf(file,
                "(%" PRIu64 " more calls of printf found the %u bytes for text full: machine: config: print_bytes)\n",
                m->printed_lost, m->config.print_bytes);
    free(entries);
}

uint64_t runtime_calls_hash(const machine *m, uint64_t hash) {
    printed_entry *entries = m->printed_count ? in_order(m) : NULL;
    uint32_t i;
    for (i = 0; entries && i < m->printed_count; i++)
        hash = gpump_hash_bytes(hash, m->printed_text + entries[i].start, entries[i].length);
    free(entries);
    return hash;
}

/* ---- assert ---- */

static void assert_lane(machine *m, sm *s, const in_flight *r, uint32_t lane) {
    char text[160], file[120], function[120], what[480];
    if (read_string(m, s, r, lane, lanes_get(&r->sources[0], lane), text, sizeof text) ||
        read_string(m, s, r, lane, lanes_get(&r->sources[1], lane), file, sizeof file) ||
        read_string(m, s, r, lane, lanes_get(&r->sources[3], lane), function, sizeof function)) {
        fail(m, r, lane, "an assertion failed whose text is not in memory");
        return;
    }
    snprintf(what, sizeof what, "assertion `%s` failed at %s:%u in %s", text, file, r->sources[2].word[0][lane],
             function);
    fail(m, r, lane, what);
}

/* ---- the heap: pieces one after the other; a search walks on from the last place ---- */

static uint64_t *header_at(machine *m, uint64_t offset) {
    return (uint64_t *)(void *)device_memory(m, m->heap_base + offset);
}

static int good_header(const machine *m, uint64_t offset, const uint64_t *header) {
    return header[0] >= HEADER && header[0] % HEADER == 0 && header[0] <= m->config.heap_bytes - offset &&
           header[1] <= 1;
}

/* Returns the address of a piece of so many bytes, 0 when there is no room, UINT64_MAX when the heap was
 * overwritten. */
static uint64_t heap_take(machine *m, uint64_t bytes) {
    const uint64_t all = m->config.heap_bytes / HEADER * HEADER;
    uint64_t needed, offset = m->heap_next, walked = 0;
    if (bytes > all) return 0;
    needed = align_up(bytes ? bytes : 1, HEADER) + HEADER;
    if (!header_at(m, 0)[0]) header_at(m, 0)[0] = all;
    while (walked < 2 * all) {
        uint64_t *header = header_at(m, offset);
        if (!good_header(m, offset, header)) return UINT64_MAX;
        while (!header[1] && offset + header[0] < all) { /* free neighbours become one piece */
            const uint64_t *next = header_at(m, offset + header[0]);
            if (!good_header(m, offset + header[0], next)) return UINT64_MAX;
            if (next[1]) break;
            header[0] += next[0];
        }
        if (!header[1] && header[0] >= needed) {
            const uint64_t rest = header[0] - needed;
            if (rest) {
                uint64_t *next = header_at(m, offset + needed);
                next[0] = rest;
                next[1] = 0;
                header[0] = needed;
            }
            header[1] = 1;
            m->heap_next = offset + header[0] < all ? offset + header[0] : 0;
            return m->heap_base + offset + HEADER;
        }
        walked += header[0];
        offset = offset + header[0] < all ? offset + header[0] : 0;
    }
    return 0;
}

static void free_lane(machine *m, const in_flight *r, uint32_t lane) {
    const uint64_t address = lanes_get(&r->sources[0], lane), offset = address - HEADER - m->heap_base;
    uint64_t *header;
    if (!address) return;
    if (offset % HEADER || offset > m->config.heap_bytes - HEADER) {
        fail(m, r, lane, "free of an address that malloc has not given");
        return;
    }
    header = header_at(m, offset);
    if (!good_header(m, offset, header) || !header[1]) {
        fail(m, r, lane, "free of an address that malloc has not returned, or whose header was overwritten");
        return;
    }
    header[1] = 0;
    m->heap_next = 0; /* the next search starts at the beginning, so that neighbours join */
}

/* ---- interface ---- */

uint64_t runtime_calls_heap_bytes(const machine *m) {
    uint32_t i;
    for (i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].program->uses_heap) return m->config.heap_bytes;
    return 0;
}

int runtime_calls_build(machine *m, uint64_t heap_base) {
    uint32_t i, prints = 0;
    for (i = 0; i < m->kernel_count; i++) prints |= m->kernels[i].program->uses_printing;
    m->heap_base = heap_base;
    if (!prints) return 0;
    m->printed_capacity = m->config.print_bytes / 8 + 1;
    m->printed = (printed_entry *)arena_take_array(&m->arena, m->printed_capacity, sizeof *m->printed);
    m->printed_text = (char *)arena_take(&m->arena, m->config.print_bytes + 1u);
    return m->printed && m->printed_text ? 0 : -1;
}

void runtime_calls_effect(machine *m, sm *s, in_flight *r) {
    uint32_t lane;
    for (lane = 0; lane < LANES && !m->failed; lane++) {
        if (!(r->active >> lane & 1)) continue;
        switch (r->instruction->opcode) {
        case OPCODE_PRINT: print_lane(m, s, r, lane); break;
        case OPCODE_ASSERT: assert_lane(m, s, r, lane); break;
        case OPCODE_FREE: free_lane(m, r, lane); break;
        default: {
            const uint64_t address = heap_take(m, lanes_get(&r->sources[0], lane));
            if (address == UINT64_MAX) fail(m, r, lane, "malloc finds its heap overwritten");
            lanes_set(&r->results[0], lane, address);
        }
        }
    }
}
