#include "sm/memory_access.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/front_end.h"
#include "sm/region.h"
#include "sm/buffer_ends.h"
#include "sm/fault_access.h"
#include "sm/runtime_calls.h"
#include "sm/translation.h"

#define ACCESS_BYTES_MAX 32u
#define BANKS 32u
#define FETCHED_SEGMENTS 4u /* of an access; one that touches more finds most of them in the host's caches */
#define ATOMIC_SOURCES 3u   /* address, value, what compare-and-swap writes */

#define WHY_BYTES 80

/* Returns whether a part excuses a senseless instruction, because it may follow from an error not detected yet. */
static __attribute__((cold)) int is_excused(const machine *m, const in_flight *r) {
    int excused;
    PATH_ASK(m, excused, 0, excuses, (m, r));
    return excused;
}

static __attribute__((cold)) void wrong_address(machine *m, in_flight *r, uint32_t lane, memory_space space,
                                                uint64_t address, const char *why) {
    const block *b = &m->blocks[r->block];
    if (is_excused(m, r)) {
        r->active = r->segment_count = 0;
        return;
    }
    machine_fail(m, "%s:%u:%u: kernel %s: %s at %s address 0x%" PRIx64 ", block %" PRIu64 " warp %u lane %u",
                 m->kernels[b->kernel].program->file_name, r->instruction->line, r->instruction->column,
                 m->kernels[b->kernel].program->name, why, space_name(space), address, b->linear,
                 m->warps[r->warp].index, lane);
}

/* Writes that an access is outside the block's shared memory. Returns text. */
static __attribute__((cold)) const char *outside_shared(const kernel *k, char *text, size_t bytes) {
    snprintf(text, bytes, "access outside the block's %u bytes of shared memory", k->shared_bytes);
    return text;
}

/* The space a lane's address lies in; *offset is the address inside it. */
static memory_space space_of(const instruction *instruction, uint64_t address, uint64_t *offset) {
    *offset = address;
    if (instruction->space == SPACE_GENERIC) return generic_space(address, offset);
    if (instruction->space == SPACE_SHARED || instruction->space == SPACE_LOCAL)
        *offset = (uint32_t)address; /* small windows: register and offset wrap together */
    return (memory_space)instruction->space;
}

memory_space memory_access_space(const in_flight *r, uint32_t lane, uint64_t *address) {
    return space_of(r->instruction, r->addresses[lane], address);
}

int memory_access_global(const in_flight *r, uint32_t lane, uint64_t *address) {
    return memory_access_space(r, lane, address) == SPACE_GLOBAL;
}

static uint32_t thread_of(const machine *m, const in_flight *r, uint32_t lane) {
    return m->warps[r->warp].index * LANES + lane;
}

/* Returns the address of a lane's local memory for the memory path. The same word of neighbouring lanes shares a
 * segment. */
static uint64_t local_place(const machine *m, const in_flight *r, uint32_t lane, uint64_t offset) {
    const block *b = &m->blocks[r->block];
    const uint64_t before = (uint64_t)m->warps[r->warp].index * m->kernels[b->kernel].program->local_bytes;
    return b->local_base + (before + offset / 4 * 4) * LANES + lane * 4;
}

/* Returns global memory for a store of the SM: its store log, where it has one. */
static uint8_t *logged_bytes(machine *m, const sm *s, uint64_t address) {
    const uint64_t line = address / SEGMENT_BYTES;
    return store_log_open(s->log, line, device_memory(m, line * SEGMENT_BYTES)) + address % SEGMENT_BYTES;
}

/* Writes to global memory; `bytes` may reach over lines. */
static void write_global(machine *m, sm *s, uint64_t address, const uint8_t *data, uint32_t bytes) {
    uint32_t done = 0, part;
    if (!s->log) {
        memcpy(device_memory(m, address), data, bytes);
        return;
    }
    memcpy(store_log_put(s->log, s->now, address, bytes, 0), data, bytes);
    for (; done < bytes; done += part) {
        const uint32_t room = SEGMENT_BYTES - (uint32_t)((address + done) % SEGMENT_BYTES);
        part = bytes - done < room ? bytes - done : room;
        memcpy(logged_bytes(m, s, address + done), data + done, part);
    }
}

/* Has the SM written to a segment of the record, and memory does not have it yet? */
static int is_logged(const sm *s, const in_flight *r) {
    uint32_t i;
    for (i = 0; i < r->segment_count; i++)
        if (store_log_may_hold(s->log, r->segments[i] / SEGMENT_BYTES)) return 1;
    return 0;
}

/* Where a lane reads or writes; not for stores to global memory where the SM has a log. */
static uint8_t *host_pointer(machine *m, sm *s, const in_flight *r, uint32_t lane) {
    const block *b = &m->blocks[r->block];
    uint64_t offset;
    switch (space_of(r->instruction, r->addresses[lane], &offset)) {
    case SPACE_SHARED: return s->shared + b->shared_base + offset;
    case SPACE_LOCAL:
        return device_memory(
            m, b->local_base + (uint64_t)thread_of(m, r, lane) * m->kernels[b->kernel].program->local_bytes + offset);
    case SPACE_PARAM: return m->kernels[b->kernel].parameters + offset;
    default: return (uint8_t *)(uintptr_t)sm_memory(m, s, offset);
    }
}

/* Returns the memory at address 0 of a space that all lanes share; NULL: each lane has its own. */
static uint8_t *space_base(machine *m, sm *s, const in_flight *r) {
    switch (r->instruction->space) {
    case SPACE_SHARED: return s->shared + m->blocks[r->block].shared_base;
    case SPACE_PARAM: return m->kernels[m->blocks[r->block].kernel].parameters;
    case SPACE_CONST: return s->log ? NULL : m->memory;
    case SPACE_GLOBAL: return s->log && (!instruction_only_reads(r->instruction) || is_logged(s, r)) ? NULL : m->memory;
    default: return NULL;
    }
}
/* Returns the offset of a lane's address from the start of its address space. */
static uint64_t space_offset(const in_flight *r, uint64_t address) {
    switch (r->instruction->space) {
    case SPACE_SHARED: return (uint32_t)address;
    case SPACE_PARAM: return address;
    default: return address - DEVICE_BASE;
    }
}

/* Which 4-byte words of its segment `bytes` bytes from an address on are. */
static uint32_t words_of(uint64_t address, uint32_t bytes) {
    const uint32_t first = (uint32_t)(address % SEGMENT_BYTES) / 4,
                   last = (uint32_t)((address % SEGMENT_BYTES) + bytes - 1) / 4;
    return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

static void add_words(in_flight *r, uint64_t segment, uint32_t words) {
    uint32_t i;
    /* Neighbouring lanes mostly share a segment: look at the newest first. */
    for (i = r->segment_count; i > 0; i--) {
        if (r->segments[i - 1] == segment) {
            r->words[i - 1] |= words;
            return;
        }
    }
    r->segments[r->segment_count] = segment;
    r->words[r->segment_count++] = words;
}
static void add_segment(in_flight *r, uint64_t address, uint32_t bytes) {
    add_words(r, address & ~(uint64_t)(SEGMENT_BYTES - 1), words_of(address, bytes));
}

/* The most different words that one bank has to deliver: lanes that read the same word share it. */
static uint32_t bank_conflicts(const in_flight *r, uint32_t lanes, uint32_t bytes) {
    uint64_t words[BANKS];
    uint8_t degree[BANKS];
    uint32_t lane, worst = 1, rows = (bytes + 3) / 4;
    uint64_t more[LANES], last = UINT64_MAX;
    uint32_t more_count = 0, i;
    memset(degree, 0, sizeof degree);
    for (; lanes; lanes &= lanes - 1) {
        uint64_t word;
        uint32_t bank;
        lane = gpump_bits_lowest64(lanes);
        word = r->addresses[lane] / 4;
        if (word == last) continue; /* neighbours mostly read the same word, if any two lanes do */
        last = word;
        bank = (uint32_t)(word % BANKS);
        if (!degree[bank]) {
            degree[bank] = 1;
            words[bank] = word;
            continue;
        }
        if (words[bank] == word) continue;
        for (i = 0; i < more_count && more[i] != word; i++) {}
        if (i < more_count) continue;
        more[more_count++] = word;
        if (++degree[bank] > worst) worst = degree[bank];
    }
    return worst * rows;
}

/* ---- textures ---- */

/* The texture of a tex instruction: all its lanes must name the same. */
static const lanes_texture *texture_of(machine *m, in_flight *r) {
    const kernel *k = &m->kernels[m->blocks[r->block].kernel];
    uint32_t lane = gpump_bits_lowest64(r->active), other;
    uint64_t handle = lanes_get(&r->sources[0], lane);
    if (r->instruction->sources[0].kind == OPERAND_IMMEDIATE)
        return &k->texture_references[handle]; /* that they are given was checked */
    for (other = lane; other < LANES; other++) {
        if ((r->active >> other & 1) && lanes_get(&r->sources[0], other) != handle) {
            wrong_address(m, r, other, (memory_space)r->instruction->space, lanes_get(&r->sources[0], other),
                          "different textures in one warp, here");
            return NULL;
        }
    }
    if (handle == 0 || handle > k->launch->argument_count || !k->textures[handle - 1].width) {
        wrong_address(m, r, lane, (memory_space)r->instruction->space, handle, "no texture was given: handle");
        return NULL;
    }
    return &k->textures[handle - 1];
}

/* Texels never straddle segments. A warp instruction of bilinear reads may touch more segments than a record holds:
 * those beyond are read but take no time. */
static void coalesce_texture(machine *m, in_flight *r) {
    uint64_t addresses[TEXTURE_TEXELS][LANES];
    const lanes_texture *texture = texture_of(m, r);
    uint32_t texels, i, n, lane;
    if (!texture) {
        r->active = 0;
        return;
    }
    texels = lanes_texture_addresses(r->instruction, r->active, r->sources, texture, addresses);
    if (m->functional && texels == 1) memcpy(r->addresses, addresses, sizeof r->addresses); /* for read_texture */
    for (i = 0; i < texels; i++) {
        for (lane = 0; lane < LANES; lane++) {
            uint64_t address = addresses[i][lane], segment = address & ~(uint64_t)(SEGMENT_BYTES - 1);
            if (!(r->active >> lane & 1) || address == TEXTURE_NO_TEXEL) continue;
            if (m->functional && r->segment_count && r->segments[r->segment_count - 1] == segment) continue;
            for (n = 0; n < r->segment_count && r->segments[n] != segment; n++) {}
            if (n < r->segment_count || r->segment_count < LANES)
                add_segment(r, address, type_bytes(texture->type) * texture->channels);
        }
    }
}

static void read_texture(machine *m, in_flight *r) {
    uint64_t addresses[TEXTURE_TEXELS][LANES];
    uint8_t texels[TEXTURE_TEXELS * LANES * 16];
    const lanes_texture *texture = texture_of(m, r);
    uint32_t count, i, lane;
    if (!texture) return;
    count = lanes_texture_texels(r->instruction, texture);
    if (m->functional && count == 1)
        memcpy(addresses, r->addresses, sizeof r->addresses);
    else
        (void)lanes_texture_addresses(r->instruction, r->active, r->sources, texture, addresses);
    memset(texels, 0, (size_t)count * LANES * 16);
    for (i = 0; i < count; i++) {
        for (lane = 0; lane < LANES; lane++) {
            if (!(r->active >> lane & 1) || addresses[i][lane] == TEXTURE_NO_TEXEL) continue;
            memcpy(texels + (i * LANES + lane) * 16, device_memory(m, addresses[i][lane]),
                   type_bytes(texture->type) * texture->channels);
        }
    }
    lanes_texture_filter(r->instruction, r->active, r->sources, texture, texels, r->results);
}

/* ---- surfaces ---- */

static void coalesce_surface(machine *m, in_flight *r) {
    const uint32_t bytes = instruction_access_bytes(r->instruction);
    const lanes_texture *surface = texture_of(m, r);
    uint32_t lane, wrong;
    if (!surface) {
        r->active = 0;
        return;
    }
    wrong = lanes_surface_addresses(r->instruction, r->active, r->sources, surface, r->addresses);
    for (lane = 0; lane < LANES; lane++) {
        if (!(r->active >> lane & 1)) continue;
        if (wrong >> lane & 1 || (r->addresses[lane] != TEXTURE_NO_TEXEL && r->addresses[lane] & (bytes - 1))) {
            wrong_address(m, r, lane, (memory_space)r->instruction->space, r->sources[1].word[0][lane],
                          wrong >> lane & 1 ? "access outside the surface" : "misaligned access to a surface");
            r->active = 0;
            return;
        }
        if (r->addresses[lane] != TEXTURE_NO_TEXEL) add_segment(r, r->addresses[lane], bytes);
    }
}

static void access_surface(machine *m, sm *s, in_flight *r) {
    uint8_t bytes[LANES * ACCESS_BYTES_MAX];
    const uint32_t size = instruction_access_bytes(r->instruction);
    const int stores = r->instruction->opcode == OPCODE_SUST;
    uint32_t lane;
    memset(bytes, 0, sizeof bytes);
    if (stores) lanes_to_memory(r->instruction, r->active, r->sources + SURFACE_VALUES - 1, bytes, size);
    for (lane = 0; lane < LANES; lane++) {
        if (!(r->active >> lane & 1) || r->addresses[lane] == TEXTURE_NO_TEXEL) continue;
        if (stores)
            write_global(m, s, r->addresses[lane], bytes + lane * size, size);
        else
            memcpy(bytes + lane * size, sm_memory(m, s, r->addresses[lane]), size);
    }
    if (!stores) lanes_from_memory(r->instruction, r->active, bytes, size, r->results);
}

/* ---- asynchronous copies ---- */

/* Returns the bytes that a lane's copy reads. The copy writes zeros for the others. */
static uint32_t copy_reads(const in_flight *r, uint32_t lane) {
    const operand *reads = &r->instruction->sources[2];
    if (reads->kind == OPERAND_PREDICATE) return r->sources[2].word[0][0] >> lane & 1 ? 0 : r->instruction->lookup;
    return r->sources[2].word[0][lane] < r->instruction->lookup ? r->sources[2].word[0][lane] : r->instruction->lookup;
}

static uint64_t copy_target(const in_flight *r, uint32_t lane) {
    const uint64_t base = r->instruction->sources[1].kind == OPERAND_NONE ? 0 : lanes_get(&r->sources[1], lane);
    return (uint32_t)(base + lanes_get(&r->sources[3], lane)); /* of shared memory, or its generic address */
}

/* Reads as a load does; where it writes is looked at here too. Nothing is read for lanes that copy zeros. */
static void coalesce_copy(machine *m, in_flight *r) {
    const kernel *k = &m->kernels[m->blocks[r->block].kernel];
    const uint32_t bytes = r->instruction->lookup;
    char text[WHY_BYTES];
    uint32_t lane;
    lanes_address(r->instruction, r->active, r->sources, r->addresses);
    for (lane = 0; lane < LANES; lane++) {
        const uint64_t to = copy_target(r, lane);
        const uint32_t reads = copy_reads(r, lane);
        if (!(r->active >> lane & 1)) continue;
        if (to & (bytes - 1) || to > k->shared_bytes || bytes > k->shared_bytes - to) {
            wrong_address(m, r, lane, SPACE_SHARED, to,
                          to & (bytes - 1) ? "misaligned copy" : outside_shared(k, text, sizeof text));
            r->active = 0;
            return;
        }
        if (reads && r->addresses[lane] & (bytes - 1)) {
            wrong_address(m, r, lane, SPACE_GLOBAL, r->addresses[lane], "misaligned copy");
            r->active = 0;
            return;
        }
        if (reads) add_segment(r, r->addresses[lane], reads);
    }
}

static void copy(machine *m, sm *s, in_flight *r) {
    const block *b = &m->blocks[r->block];
    uint32_t lane;
    for (lane = 0; lane < LANES; lane++) {
        const uint32_t reads = copy_reads(r, lane);
        uint8_t *to = s->shared + b->shared_base + copy_target(r, lane);
        if (!(r->active >> lane & 1)) continue;
        if (reads) memcpy(to, sm_memory(m, s, r->addresses[lane]), reads);
        memset(to + reads, 0, r->instruction->lookup - reads);
    }
}

/* Returns whether all lanes access one array, one element after the other, so that one check is enough. 0 also for a
 * wrong access. */
static int coalesce_straight(const kernel *k, in_flight *r, uint32_t bytes) {
    const uint64_t first = r->addresses[0], total = (uint64_t)bytes * LANES;
    uint64_t differs = 0, at;
    uint32_t l;
    if (r->active != UINT32_MAX || r->instruction->vector != 1 || (first & (bytes - 1))) return 0;
    for (l = 0; l < LANES; l++) differs |= r->addresses[l] ^ (first + l * bytes);
    if (differs) return 0;
    if (r->instruction->space == SPACE_SHARED) {
        if (bytes != 4 || first > UINT32_MAX || first > k->shared_bytes || total > k->shared_bytes - first) return 0;
        r->conflict_cycles = 1; /* each bank has one word to give */
        return 1;
    }
    if (r->instruction->space != SPACE_GLOBAL) return 0;
    for (at = first; at < first + total; at = (at | (SEGMENT_BYTES - 1)) + 1) {
        const uint64_t left = first + total - at, room = SEGMENT_BYTES - at % SEGMENT_BYTES;
        r->segments[r->segment_count] = at & ~(uint64_t)(SEGMENT_BYTES - 1);
        r->words[r->segment_count++] = words_of(at, (uint32_t)(left < room ? left : room));
    }
    return 1;
}

/* Adds a segment that neighbours share. Without time a segment may stand twice: it is only looked up. *seen: a bit for
 * each segment so far, by a hash. A segment without one is new, and most are, where lanes access different ones. */
static inline void add_shared_segment(const machine *m, in_flight *r, uint64_t segment, uint32_t words,
                                      uint64_t *seen) {
    const uint64_t bit = UINT64_C(1) << (segment / SEGMENT_BYTES * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    const int may_be_there = (*seen & bit) != 0;
    *seen |= bit;
    if (!m->functional && may_be_there) {
        add_words(r, segment, words);
        return;
    }
    r->segments[r->segment_count] = segment;
    r->words[r->segment_count++] = words;
}

/* The same for lanes that access global memory wherever they like, 16 bytes each at most: their segments, neighbours
 * first. 0: something is wrong with an address. */
static int coalesce_global(const machine *m, in_flight *r, uint32_t lanes, uint32_t bytes) {
    const uint32_t one = bytes < 4 ? 1u : (1u << bytes / 4) - 1;
    uint64_t segment = UINT64_MAX, all = 0, seen = 0;
    uint32_t words = 0;
    for (; lanes; lanes &= lanes - 1) {
        const uint64_t address = r->addresses[gpump_bits_lowest64(lanes)];
        const uint32_t mine = one << (address / 4 % (SEGMENT_BYTES / 4));
        all |= address;
        if ((address & ~(uint64_t)(SEGMENT_BYTES - 1)) == segment) {
            words |= mine;
            continue;
        }
        if (words) add_shared_segment(m, r, segment, words, &seen);
        segment = address & ~(uint64_t)(SEGMENT_BYTES - 1);
        words = mine;
    }
    if (words) add_shared_segment(m, r, segment, words, &seen);
    if (!(all & (bytes - 1))) return 1;
    r->segment_count = 0;
    return 0;
}

#define HALF (LANES / 2)

/* Returns a bound of the different words among the addresses of `lanes`, of which `first` is one: lanes that read the
 * word of their neighbour, or of the lane half a warp before them, as in tiles of 16 columns, are not counted. */
static uint32_t different_words(const in_flight *r, uint32_t lanes, uint32_t first) {
    uint32_t words[HALF + LANES], l, count = 0;
    for (l = 0; l < HALF; l++) words[l] = first | 1u; /* the address of no lane */
    for (l = 0; l < LANES; l++) words[HALF + l] = lanes & lane_bits[l] ? (uint32_t)r->addresses[l] : first;
    for (l = 0; l < LANES; l++) count += (words[HALF + l] != words[HALF + l - 1]) & (words[HALF + l] != words[l]);
    return count;
}

/* And for shared memory, 4 bytes each, or as many as they like without time. Banks that each have one word to give
 * serve all lanes in one cycle. */
static int coalesce_shared(const machine *m, const kernel *k, in_flight *r, uint32_t lanes, uint32_t bytes) {
    const uint32_t first = (uint32_t)r->addresses[gpump_bits_lowest64(lanes)];
    uint32_t l, banks = 0, all = 0, differs = 0, highest = 0;
    for (l = 0; l < LANES; l++) { /* of vectors */
        const uint32_t here = lanes & lane_bits[l] ? UINT32_MAX : 0, address = (uint32_t)r->addresses[l] & here;
        banks |= (1u << (address / 4 % BANKS)) & here;
        differs |= (address ^ first) & here;
        all |= address;
        highest = address > highest ? address : highest;
    }
    if (all & (bytes - 1) || k->shared_bytes < bytes || highest > k->shared_bytes - bytes) return 0;
    r->conflict_cycles = m->functional || !differs || gpump_bits_count64(banks) == gpump_bits_count64(lanes) ||
                                 gpump_bits_count64(banks) == different_words(r, lanes, first)
                             ? 1
                             : bank_conflicts(r, lanes, 4);
    return 1;
}

/* Adds one lane's access to the segments, or to the lanes that access shared memory. Returns -1 when the address is
 * outside its space, which ends the instruction. */
static int coalesce_lane(machine *m, in_flight *r, const kernel *k, uint32_t lane, uint64_t address, uint32_t bytes,
                         uint32_t *shared_lanes) {
    const instruction *instruction = r->instruction;
    const char *outside = NULL;
    char text[WHY_BYTES];
    uint64_t offset;
    switch (space_of(instruction, address, &offset)) {
    case SPACE_SHARED:
        if (offset > k->shared_bytes || bytes > k->shared_bytes - offset)
            outside = outside_shared(k, text, sizeof text);
        *shared_lanes |= 1u << lane;
        break;
    case SPACE_PARAM: /* by a generic address (cvta.param): as fast as its constant cache */
        if (!instruction_only_reads(instruction) || offset > k->program->parameter_bytes ||
            bytes > k->program->parameter_bytes - offset)
            outside = "access outside the parameters";
        break;
    case SPACE_LOCAL:
        if (offset > k->program->local_bytes || bytes > k->program->local_bytes - offset)
            outside = "access outside the thread's local memory";
        else
            add_segment(r, local_place(m, r, lane, offset), 4);
        break;
    default: add_segment(r, offset, bytes); break;
    }
    if (!outside) return 0;
    wrong_address(m, r, lane, (memory_space)r->instruction->space, address, outside);
    r->active = 0;
    return -1;
}

static void coalesce(machine *m, in_flight *r) {
    const instruction *instruction = r->instruction;
    const kernel *k = &m->kernels[m->blocks[r->block].kernel];
    uint32_t bytes = instruction_access_bytes(instruction), lane, shared_lanes = 0, alignment = bytes, addressed;
    r->segment_count = 0;
    r->conflict_cycles = 0;
    r->straight = 0;
    if (r->active && instruction->opcode == OPCODE_TEX) coalesce_texture(m, r);
    if (r->active && instruction->opcode == OPCODE_COPY) {
        coalesce_copy(m, r);
        return;
    }
    if (r->active && (instruction->opcode == OPCODE_SULD || instruction->opcode == OPCODE_SUST)) {
        coalesce_surface(m, r);
        return;
    }
    if (!r->active || !bytes) return;
    if (!memory_access_is_addressed(instruction) && !is_traced(&m->warps[r->warp]))
        lanes_address(instruction, r->active, r->sources, r->addresses);
    addressed = instruction_address_lanes(instruction, r->active);
    if ((instruction->opcode == OPCODE_LD || instruction->opcode == OPCODE_ST) && instruction->type != TYPE_PRED &&
        (r->straight = (uint32_t)coalesce_straight(k, r, bytes)))
        return;
    if (instruction->space == SPACE_GLOBAL && bytes <= 16 && coalesce_global(m, r, addressed, bytes)) return;
    if (instruction->space == SPACE_SHARED && (bytes == 4 || m->functional) &&
        coalesce_shared(m, k, r, addressed, bytes))
        return;
    for (; addressed; addressed &= addressed - 1) {
        uint64_t address;
        lane = gpump_bits_lowest64(addressed);
        address = r->addresses[lane];
        if (address & (alignment - 1)) {
            wrong_address(m, r, lane, (memory_space)r->instruction->space, address, "misaligned access");
            break;
        }
        if (coalesce_lane(m, r, k, lane, address, bytes, &shared_lanes)) return;
    }
    if (shared_lanes && !m->functional) r->conflict_cycles = bank_conflicts(r, shared_lanes, bytes);
}

/* What takes effect in some cycles: the host's caches may fetch it until then. */
static void fetch_segments(machine *m, const in_flight *r) {
    uint32_t i;
    for (i = 0; i < r->segment_count && i < FETCHED_SEGMENTS; i++) { /* no check has seen the address yet */
        const uintptr_t place = (uintptr_t)m->memory + (uintptr_t)(r->segments[i] - DEVICE_BASE);
        FETCH_AHEAD((const void *)place);
        FETCH_AHEAD((const void *)(place + SEGMENT_BYTES / 2));
    }
}

/* These lanes access bytes beyond the end of their buffer, of which a part aborts the process alone. */
static void report_outside(machine *m, sm *s, const in_flight *r, uint32_t lanes) {
    gpump_fault_access access;
    uint64_t cycle;
    access = fault_access_of(m, s, r, r->addresses[gpump_bits_lowest64(lanes)], TRANSLATION_FAULT);
    access.lanes = lanes;
    access.address = r->addresses[gpump_bits_lowest64(lanes)];
    PARTS_ASK(m, cycle, 0, page_is_wanted, (m, s, &m->warps[r->warp], &access));
    (void)cycle; /* the block will not report it again */
}

/* Texels and surface elements are inside their texture; page checks access nothing. */
static __attribute__((cold)) void check_ends(machine *m, sm *s, in_flight *r) {
    const uint32_t opcode = r->instruction->opcode;
    uint32_t lane, lanes = instruction_address_lanes(r->instruction, r->active), outside = 0, bytes = 0;
    if (opcode == OPCODE_TEX || opcode == OPCODE_SULD || opcode == OPCODE_SUST || opcode == OPCODE_CHECK) return;
    for (lane = 0; lane < LANES; lane++) {
        uint64_t address;
        if (!(lanes >> lane & 1) || !memory_access_global(r, lane, &address)) lanes &= ~(1u << lane);
    }
    for (lane = 0; lane < LANES && opcode == OPCODE_COPY && !outside; lane++)
        if (lanes >> lane & 1 && (bytes = copy_reads(r, lane))) outside = buffer_ends_outside(m, r, 1u << lane, bytes);
    if (opcode != OPCODE_COPY)
        outside = buffer_ends_outside(m, r, lanes, bytes = instruction_access_bytes(r->instruction));
    if (!outside) return;
    if (!is_excused(m, r)) {
        if (m->traits & PART_ABORTS)
            report_outside(m, s, r, outside);
        else
            buffer_ends_fail(m, r, outside, bytes);
    }
    r->active = r->segment_count = r->straight = 0;
}

void memory_access_coalesce(machine *m, sm *s, in_flight *r) {
    coalesce(m, r);
    if (buffer_ends_may_be_crossed(m, r)) check_ends(m, s, r);
    fetch_segments(m, r);
    PATH_TELL(m, coalesced, (m, s, r));
}

/* Finds the lanes that access an absent page. A page may have arrived since its segment was translated; no page leaves.
 */
void memory_access_checked(machine *m, in_flight *r) {
    const int write = !instruction_only_reads(r->instruction);
    uint32_t lane, i, kept = 0;
    uint64_t offset;
    for (lane = 0; lane < LANES; lane++) {
        uint32_t space;
        if (!(r->active >> lane & 1)) continue;
        space = space_of(r->instruction, r->addresses[lane], &offset);
        if (space == SPACE_LOCAL) offset = local_place(m, r, lane, offset);
        if (space != SPACE_GLOBAL && space != SPACE_LOCAL) continue;
        if (translate(m, offset, write) == TRANSLATION_ABSENT) r->faulted |= 1u << lane;
    }
    r->active &= ~r->faulted;
    for (i = 0; i < r->segment_count; i++) {
        if (r->instruction->opcode == OPCODE_CHECK || translate(m, r->segments[i], write) == TRANSLATION_ABSENT)
            continue;
        r->words[kept] = r->words[i];
        r->segments[kept++] = r->segments[i];
    }
    r->segment_count = kept;
}

/* ---- taking effect ---- */

/* Where a space that all lanes share has the byte of an address: at its base + (address - first & keep). */
typedef struct space_window {
    uint64_t first, keep;
} space_window;
static space_window window_of(memory_space space) {
    const space_window w = {space == SPACE_SHARED || space == SPACE_PARAM ? 0 : DEVICE_BASE,
                            space == SPACE_SHARED ? UINT32_MAX : UINT64_MAX};
    return w;
}

/* Copies `size` bytes of each lane from a space's base to bytes[lane * size], or back. */
SM_INLINE void copy_lanes(const in_flight *r, uint8_t *base, uint32_t lanes, uint8_t *bytes, uint32_t size, int back) {
    const space_window w = window_of((memory_space)r->instruction->space);
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = gpump_bits_lowest64(lanes);
        uint8_t *there = base + ((r->addresses[lane] - w.first) & w.keep), *here = bytes + (size_t)lane * size;
        memcpy(back ? there : here, back ? here : there, size);
    }
}
/* The same, compiled for each size that is frequent. */
SM_INLINE void copy_sized(const in_flight *r, uint8_t *base, uint32_t lanes, uint8_t *bytes, uint32_t size, int back) {
    switch (size) {
    case 1: copy_lanes(r, base, lanes, bytes, 1, back); break;
    case 2: copy_lanes(r, base, lanes, bytes, 2, back); break;
    case 4: copy_lanes(r, base, lanes, bytes, 4, back); break;
    case 8: copy_lanes(r, base, lanes, bytes, 8, back); break;
    case 16: copy_lanes(r, base, lanes, bytes, 16, back); break;
    default: copy_lanes(r, base, lanes, bytes, size, back);
    }
}

static void load_into(machine *m, sm *s, const in_flight *r, lanes_operand *results) {
    uint8_t bytes[LANES * ACCESS_BYTES_MAX];
    uint32_t size = instruction_access_bytes(r->instruction), stride = size,
             lanes = instruction_address_lanes(r->instruction, r->active);
    uint8_t *base = space_base(m, s, r);
    if (r->straight && base) {
        lanes_from_memory(r->instruction, r->active, base + space_offset(r, r->addresses[0]), stride, results);
        return;
    }
    if (base && r->instruction->opcode == OPCODE_LD && size == 4 && r->instruction->vector == 1 &&
        r->instruction->destinations[0].words == 1) {
        const space_window w = window_of((memory_space)r->instruction->space);
        lanes_gather(base, w.first, w.keep, lanes, r->addresses, results);
        return;
    }
    if (base) {
        copy_sized(r, base, lanes, bytes, size, 0);
    } else {
        for (; lanes; lanes &= lanes - 1) {
            const uint32_t lane = gpump_bits_lowest64(lanes);
            memcpy(bytes + lane * stride, host_pointer(m, s, r, lane), size);
        }
    }
    lanes_from_memory(r->instruction, r->active, bytes, stride, results);
}

/* Whole values of 32 and 64 bits for all lanes go to the registers themselves. */
static int loads_register(const in_flight *r) {
    const instruction *i = r->instruction;
    return r->active == UINT32_MAX && i->opcode == OPCODE_LD && i->vector == 1 &&
           i->destinations[0].kind == OPERAND_REGISTER && i->destinations[0].words <= 2 &&
           type_bytes(i->type) == 4u * i->destinations[0].words;
}

/* A plain machine writes loaded words to registers at once, as it does with results of arithmetic (pipeline.c). */
static void load(machine *m, sm *s, in_flight *r) {
    const warp *w = &m->warps[r->warp];
    uint32_t *registers = s->registers + w->register_base;
    if (!IS_PLAIN_MACHINE(m) || r->info->is_checked) {
        load_into(m, s, r, r->results);
        return;
    }
    r->has_results = 0;
    if (loads_register(r)) {
        load_into(m, s, r,
                  (lanes_operand *)(void *)(registers + (size_t)r->instruction->destinations[0].index * LANES));
    } else {
        lanes_operand results[INSTRUCTION_DESTINATIONS];
        load_into(m, s, r, results);
        lanes_write_all(r->instruction, r->active, results, registers, predicates_of(m, r->warp));
    }
}

static void store(machine *m, sm *s, in_flight *r) {
    uint8_t bytes[LANES * ACCESS_BYTES_MAX];
    uint32_t size = instruction_access_bytes(r->instruction),
             lanes = instruction_address_lanes(r->instruction, r->active);
    uint8_t *base = space_base(m, s, r);
    uint64_t address;
    if (r->instruction->space == SPACE_SHARED) PATH_TELL(m, shared_stores, (m, s, r));
    if (r->straight && base) {
        lanes_to_memory(r->instruction, r->active, r->sources, base + space_offset(r, r->addresses[0]), size);
        return;
    }
    lanes_to_memory(r->instruction, r->active, r->sources, bytes, size);
    if (r->straight) {
        write_global(m, s, r->addresses[0], bytes, size * LANES);
        return;
    }
    /* In lane order: of lanes that store to the same place, the highest wins. */
    if (base) {
        copy_sized(r, base, lanes, bytes, size, 1);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = gpump_bits_lowest64(lanes);
        uint8_t *to;
        if (s->log && memory_access_global(r, lane, &address)) {
            write_global(m, s, address, bytes + lane * size, size);
            continue;
        }
        to = host_pointer(m, s, r, lane);
        memcpy(to, bytes + lane * size, size);
    }
}

/* An atomic instruction that waits for the end of the window: its value follows when its turn has come. The record may
 * be gone then, unless the instruction has a result: that is awaited beyond the window. */
typedef struct waiting_atomic {
    const instruction *instruction;
    in_flight *record;
    uint64_t addresses[LANES];
    lanes_operand sources[ATOMIC_SOURCES];
} waiting_atomic;

static uint64_t atomic_lane(const instruction *instruction, uint32_t lane, const lanes_operand *sources,
                            uint8_t *place) {
    const uint32_t size = type_bytes(instruction->type);
    uint64_t old = 0, new;
    memcpy(&old, place, size);
    new = lanes_atomic(instruction, lane, sources, old);
    memcpy(place, &new, size);
    return old;
}

static void atomic(machine *m, sm *s, in_flight *r) {
    uint32_t lanes = r->active, waiting = 0;
    uint64_t address;
    while (lanes) {
        const uint32_t lane = gpump_bits_lowest64(lanes);
        const int logged = s->log && memory_access_global(r, lane, &address);
        uint8_t *place = logged ? logged_bytes(m, s, address) : host_pointer(m, s, r, lane);
        const uint64_t old = atomic_lane(r->instruction, lane, r->sources, place);
        lanes &= lanes - 1;
        if (r->instruction->destination_count) lanes_set(&r->results[0], lane, old);
        if (logged) waiting |= 1u << lane;
    }
    if (waiting) {
        waiting_atomic a;
        a.instruction = r->instruction;
        a.record = r->instruction->destination_count ? r : NULL;
        for (lanes = waiting; lanes; lanes &= lanes - 1)
            (void)memory_access_global(r, gpump_bits_lowest64(lanes), &a.addresses[gpump_bits_lowest64(lanes)]);
        memcpy(a.sources, r->sources, sizeof a.sources);
        memcpy(store_log_put(s->log, s->now, 0, sizeof a, waiting), &a, sizeof a);
    }
}

void memory_access_cross(machine *m, sm *s, uint64_t cycle) {
    const store_entry *e;
    while ((e = store_log_take(s->log, cycle))) {
        const waiting_atomic *a = (const waiting_atomic *)(const void *)store_entry_data(e);
        uint32_t lanes = e->lanes;
        if (!lanes) memcpy(device_memory(m, e->address), store_entry_data(e), e->bytes);
        for (; lanes; lanes &= lanes - 1) {
            const uint32_t lane = gpump_bits_lowest64(lanes);
            const uint64_t old = atomic_lane(a->instruction, lane, a->sources, device_memory(m, a->addresses[lane]));
            if (a->record) lanes_set(&a->record->results[0], lane, old);
        }
    }
}

/* The flush bit: the block may be started anew as long as it has overwritten nothing that it has read, or as long as it
 * has executed nothing that might do so. */
static void track(machine *m, sm *s, in_flight *r) {
    block *b = &m->blocks[r->block];
    gpump_read_set *set = s->read_sets[b->ref.slot];
    const uint64_t origin = front_end_origin(&m->warps[r->warp]);
    uint32_t i;
    int clobbered = 0;
    if (r->instruction->space == SPACE_LOCAL) return;
    if (b->history.clobbered && !m->clobbered_at) return; /* it may never be flushed again: there is nothing to watch */
    if (r->info->clobbers != CLOBBERS_WATCHED) {
        clobbered = r->info->clobbers == CLOBBERS_ALWAYS;
    } else if (r->instruction->opcode == OPCODE_ATOM || r->instruction->opcode == OPCODE_RED) {
        clobbered = r->segment_count != 0;
    } else {
        for (i = 0; i < r->segment_count; i++) {
            uint64_t segment = r->segments[i];
            if (m->local_count && segment >= m->local_base &&
                segment < m->local_base + m->local_stride * m->local_count)
                continue;
            if (!instruction_only_reads(r->instruction))
                clobbered |= gpump_read_set_store(set, segment - origin, r->words[i]);
            else
                gpump_read_set_load(set, segment - origin, r->words[i]);
        }
    }
    if (!clobbered) return;
    gpump_sm_report_clobber(s->gpump, b->ref);
    b->history.clobbered = 1;
    if (m->clobbered_at) m->clobbered_at[r->pc] = 1;
}

void memory_access_effect(machine *m, sm *s, in_flight *r) {
    if (r->active && instruction_is_runtime_call(r->instruction)) {
        runtime_calls_effect(m, s, r);
        restart_forbid(s, &m->warps[r->warp]);
        gpump_sm_report_clobber(s->gpump, m->blocks[r->block].ref);
        if (m->clobbered_at) m->clobbered_at[r->pc] = 1;
        return;
    }
    if (!r->active || (!instruction_access_bytes(r->instruction) && r->instruction->opcode != OPCODE_TEX)) return;
    if (m->on_access) m->on_access(m, r);
    if (is_traced(&m->warps[r->warp])) front_end_access(m, s, r, &m->warps[r->warp]);
    switch (is_traced(&m->warps[r->warp]) ? OPCODE_TRACED : (opcode)r->instruction->opcode) {
    case OPCODE_TRACED: break;
    case OPCODE_TEX: read_texture(m, r); break;
    case OPCODE_LDMATRIX:
    case OPCODE_LD: load(m, s, r); break;
    case OPCODE_STMATRIX:
    case OPCODE_ST: store(m, s, r); break;
    case OPCODE_SULD:
    case OPCODE_SUST: access_surface(m, s, r); break;
    case OPCODE_COPY: copy(m, s, r); break;
    case OPCODE_ATOM:
    case OPCODE_RED: atomic(m, s, r); break;
    default: return; /* checks among them */
    }
    if (r->instruction->opcode == OPCODE_ATOM || r->instruction->opcode == OPCODE_RED ||
        (r->instruction->flags & FLAG_VOLATILE))
        restart_forbid(s, &m->warps[r->warp]);
    if (r->segment_count) track(m, s, r);
}

void memory_access_constant(machine *m, sm *s, in_flight *r) {
    const block *b = &m->blocks[r->block];
    uint32_t size = instruction_access_bytes(r->instruction), lane;
    uint64_t checked = UINT64_MAX; /* most lanes read what the lane before has read */
    r->straight = 0;
    if (is_traced(&m->warps[r->warp])) front_end_access(m, s, r, &m->warps[r->warp]);
    if (!r->active || is_traced(&m->warps[r->warp])) return;
    if (!memory_access_is_addressed(r->instruction)) lanes_address(r->instruction, r->active, r->sources, r->addresses);
    for (lane = 0; lane < LANES; lane++) {
        uint64_t address = r->addresses[lane];
        if (!(r->active >> lane & 1) || address == checked) continue;
        checked = address;
        if (r->instruction->space == SPACE_PARAM
                ? address > m->kernels[b->kernel].program->parameter_bytes ||
                      size > m->kernels[b->kernel].program->parameter_bytes - address
                : address & (size - 1) || translate(m, address, 0) != TRANSLATION_HIT) {
            wrong_address(m, r, lane, (memory_space)r->instruction->space, address,
                          "access outside constants and parameters");
            r->active = 0;
            return;
        }
    }
    load(m, s, r);
}
