#include "context/context.h"
#include "context/compress_parts.h"

#include <string.h>
#if defined(__GNUC__) && defined(__x86_64__) && !defined(GPUMP_NO_SIMD)
#include <immintrin.h>
#endif

/* ---- little-endian words ---- */

static void gpumpi_context_store64(unsigned char *at, uint64_t value) {
    gpumpi_put_word(at, (uint32_t)value);
    gpumpi_put_word(at + 4, (uint32_t)(value >> 32));
}
static uint64_t gpumpi_context_load64(const unsigned char *at) {
    return gpumpi_get_word(at) | (uint64_t)gpumpi_get_word(at + 4) << 32;
}

/* ---- the checksum ----
 *
 * Every section, and at the end the header, is read in steps of eight words of 64 bits, the last step filled up with
 * zeros. Word `lane` of each step goes into four sums of its lane, modulo 2^64: the words, their prefix sums, the upper
 * halves of the words, and the prefix sums of those. Sums are additions of whole vectors and run at memory speed.
 *
 * Any change within two words of a context is found. Two changes of one lane that leave the first sum have the
 * differences d and -d. They leave the second sum only if d times the steps between them is 0 modulo 2^64, so that d is
 * a multiple of 2^32: the upper halves differ, by less than 2^32. The third sum then requires the differences e and -e,
 * and the fourth that e times the steps is 0, which it is not below 2^32 steps. */
#define GPUMPI_CONTEXT_STEP 64u
#define GPUMPI_CONTEXT_PIECE 4096u

/* Adds `steps` steps to the lanes from `first` on, as many as VECTOR has, and copies them to `to` if it is not NULL: a
 * copy waits for memory, and the additions take place meanwhile. */
#define GPUMPI_CONTEXT_LANES(VECTOR)                                   \
    do {                                                               \
        const unsigned char *gpumpi_at = memory + first * 8;           \
        VECTOR word, sum, prefix, upper, upper_prefix;                 \
        memcpy(&sum, sums + first, sizeof sum);                        \
        memcpy(&prefix, sums + 8 + first, sizeof prefix);              \
        memcpy(&upper, sums + 16 + first, sizeof upper);               \
        memcpy(&upper_prefix, sums + 24 + first, sizeof upper_prefix); \
        for (size_t i = 0; i < steps; i++, gpumpi_at += 64) {          \
            GPUMPI_CONTEXT_WORD(word, gpumpi_at);                      \
            if (to) GPUMPI_CONTEXT_TO(to + first * 8 + i * 64, word);  \
            sum += word;                                               \
            prefix += sum;                                             \
            upper += word >> 32;                                       \
            upper_prefix += upper;                                     \
        }                                                              \
        memcpy(sums + first, &sum, sizeof sum);                        \
        memcpy(sums + 8 + first, &prefix, sizeof prefix);              \
        memcpy(sums + 16 + first, &upper, sizeof upper);               \
        memcpy(sums + 24 + first, &upper_prefix, sizeof upper_prefix); \
    } while (0)

#if defined(__GNUC__) && defined(GPUMPI_COMPRESS_LITTLE) && !defined(GPUMP_NO_SIMD)
#define GPUMPI_CONTEXT_WORD(word, at) memcpy(&(word), at, sizeof(word))
#define GPUMPI_CONTEXT_TO(at, word) memcpy(at, &(word), sizeof(word))
typedef uint64_t gpumpi_context_2_lanes __attribute__((vector_size(16)));
static void gpumpi_context_by_2(uint64_t *sums, unsigned char *to, const unsigned char *memory, size_t steps) {
    for (size_t first = 0; first < 8; first += 2) GPUMPI_CONTEXT_LANES(gpumpi_context_2_lanes);
}
#if defined(__x86_64__)
typedef uint64_t gpumpi_context_4_lanes __attribute__((vector_size(32)));
__attribute__((target("avx2"))) static void gpumpi_context_by_4(uint64_t *sums, unsigned char *to,
                                                                const unsigned char *memory, size_t steps) {
    for (size_t first = 0; first < 8; first += 4) GPUMPI_CONTEXT_LANES(gpumpi_context_4_lanes);
}
#endif
static void gpumpi_context_add_steps(uint64_t *sums, unsigned char *to, const unsigned char *memory, size_t steps) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        gpumpi_context_by_4(sums, to, memory, steps);
        return;
    }
#endif
    gpumpi_context_by_2(sums, to, memory, steps);
}
#else
#define GPUMPI_CONTEXT_WORD(word, at) word = gpumpi_context_load64(at)
#define GPUMPI_CONTEXT_TO(at, word) gpumpi_context_store64(at, word)
static void gpumpi_context_add_steps(uint64_t *sums, unsigned char *to, const unsigned char *memory, size_t steps) {
    for (size_t first = 0; first < 8; first++) GPUMPI_CONTEXT_LANES(uint64_t);
}
#endif
#undef GPUMPI_CONTEXT_WORD
#undef GPUMPI_CONTEXT_TO
#undef GPUMPI_CONTEXT_LANES

#if defined(__GNUC__) && defined(__x86_64__) && !defined(GPUMP_NO_SIMD)
/* g++ 12 warns of operands that its own headers leave uninitialised under a full mask. */
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define GPUMPI_CONTEXT_WIDE (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
#define GPUMPI_CONTEXT_ADD(word)                                                \
    (sum = _mm512_add_epi64(sum, word), prefix = _mm512_add_epi64(prefix, sum), \
     upper = _mm512_add_epi64(upper, _mm512_srli_epi64(word, 32)),              \
     upper_prefix = _mm512_add_epi64(upper_prefix, upper))
/* Adds a whole section, its end, or the header: the first `head` words of the first step are w0 to w2, and `bytes`
 * bytes follow, which are copied to `to` if it is not NULL. Nothing that was written just now is loaded here: such a
 * load would wait until all stores before it have left the core. */
__attribute__((target("avx512f,avx512bw"))) static void gpumpi_context_wide(uint64_t *sums, unsigned char *to,
                                                                            const unsigned char *from, uint64_t bytes,
                                                                            size_t head, uint64_t w0, uint64_t w1,
                                                                            uint64_t w2) {
    __m512i sum = _mm512_loadu_si512(sums), prefix = _mm512_loadu_si512(sums + 8);
    __m512i upper = _mm512_loadu_si512(sums + 16), upper_prefix = _mm512_loadu_si512(sums + 24), word;
    size_t steps;
    if (head) {
        const size_t first = GPUMPI_CONTEXT_STEP - head * 8;
        const __mmask8 mask = (__mmask8)(0xffu >> head);
        const __m512i part = _mm512_maskz_loadu_epi64(mask, from);
        if (to) _mm512_mask_storeu_epi64(to, mask, part);
        word = _mm512_set_epi64(0, 0, 0, 0, 0, (long long)w2, (long long)w1, (long long)w0);
        word = _mm512_mask_expand_epi64(word, (__mmask8)(0xffu << head), part);
        GPUMPI_CONTEXT_ADD(word);
        from += first;
        if (to) to += first;
        bytes -= first;
    }
    steps = (size_t)(bytes / GPUMPI_CONTEXT_STEP) * GPUMPI_CONTEXT_STEP;
    for (size_t i = 0; to && i < steps; i += GPUMPI_CONTEXT_STEP) {
        word = _mm512_loadu_si512(from + i);
        _mm512_storeu_si512(to + i, word);
        GPUMPI_CONTEXT_ADD(word);
    }
    for (size_t i = 0; !to && i < steps; i += GPUMPI_CONTEXT_STEP) {
        word = _mm512_loadu_si512(from + i);
        GPUMPI_CONTEXT_ADD(word);
    }
    bytes -= steps;
    if (bytes) {
        const __mmask64 mask = (UINT64_C(1) << bytes) - 1;
        word = _mm512_maskz_loadu_epi8(mask, from + steps);
        if (to) _mm512_mask_storeu_epi8(to + steps, mask, word);
        GPUMPI_CONTEXT_ADD(word);
    }
    _mm512_storeu_si512(sums, sum);
    _mm512_storeu_si512(sums + 8, prefix);
    _mm512_storeu_si512(sums + 16, upper);
    _mm512_storeu_si512(sums + 24, upper_prefix);
}
#undef GPUMPI_CONTEXT_ADD
__attribute__((target("avx512f"))) static void gpumpi_context_clear_wide(uint64_t *sums) {
    for (size_t i = 0; i < 32; i += 8) _mm512_storeu_si512(sums + i, _mm512_setzero_si512());
}
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
/* Sets the sums to 0, by stores as wide as the loads that follow. */
static void gpumpi_context_clear(uint64_t *sums) {
#ifdef GPUMPI_CONTEXT_WIDE
    if (GPUMPI_CONTEXT_WIDE) {
        gpumpi_context_clear_wide(sums);
        return;
    }
#endif
    memset(sums, 0, 32 * sizeof *sums);
}

/* Adds whole steps and copies them to `to` if it is not NULL, in pieces, which stay in the first cache. */
static void gpumpi_context_add_pieces(uint64_t *sums, unsigned char *to, const unsigned char *memory, uint64_t bytes) {
    while (bytes) {
        const size_t piece = bytes < GPUMPI_CONTEXT_PIECE ? (size_t)bytes : GPUMPI_CONTEXT_PIECE;
        gpumpi_context_add_steps(sums, to, memory, piece / GPUMPI_CONTEXT_STEP);
        memory += piece;
        if (to) to += piece;
        bytes -= piece;
    }
}
/* Adds the `bytes`, a multiple of 8, of a section, of its end, or of the header. */
static void gpumpi_context_add(uint64_t *sums, const unsigned char *memory, uint64_t bytes) {
    unsigned char last[GPUMPI_CONTEXT_STEP] = {0};
    const uint64_t end = bytes % GPUMPI_CONTEXT_STEP;
#ifdef GPUMPI_CONTEXT_WIDE
    if (GPUMPI_CONTEXT_WIDE) {
        gpumpi_context_wide(sums, NULL, memory, bytes, 0, 0, 0, 0);
        return;
    }
#endif
    gpumpi_context_add_pieces(sums, NULL, memory, bytes - end);
    if (!end) return;
    memcpy(last, memory + (bytes - end), (size_t)end);
    gpumpi_context_add_steps(sums, NULL, last, 1);
}
/* Copies `bytes` of a section, at least one, and adds it all. The section at `section`, `length` bytes long, is the
 * source or the target. The copied bytes stand behind `head` words, w0 to w2, and before the padding, which are
 * written. */
static void gpumpi_context_copy(uint64_t *sums, unsigned char *to, const unsigned char *from, uint64_t bytes,
                                const unsigned char *section, uint64_t length, size_t head, uint64_t w0, uint64_t w1,
                                uint64_t w2) {
    const size_t first = GPUMPI_CONTEXT_STEP - head * 8;
    const uint64_t whole = bytes < first ? 0 : (bytes - first) & ~(uint64_t)(GPUMPI_CONTEXT_STEP - 1);
#ifdef GPUMPI_CONTEXT_WIDE
    if (bytes >= first && GPUMPI_CONTEXT_WIDE) {
        gpumpi_context_wide(sums, to, from, bytes, head, w0, w1, w2);
        return;
    }
#endif
    (void)w0, (void)w1, (void)w2;
    if (!whole) {
        memcpy(to, from, (size_t)bytes);
        gpumpi_context_add(sums, section, length);
        return;
    }
    memcpy(to, from, first);
    gpumpi_context_add(sums, section, GPUMPI_CONTEXT_STEP);
    gpumpi_context_add_pieces(sums, to + first, from + first, whole);
    memcpy(to + first + whole, from + first + whole, (size_t)(bytes - first - whole));
    gpumpi_context_add(sums, section + GPUMPI_CONTEXT_STEP + whole, length - GPUMPI_CONTEXT_STEP - whole);
}
/* Adds the sections from `offset` to `end`, whose lengths are good. */
static void gpumpi_context_add_sections(uint64_t *sums, const unsigned char *memory, uint64_t offset, uint64_t end) {
    while (offset < end) {
        const uint64_t section =
            GPUMP_CONTEXT_SECTION_BYTES + ((gpumpi_context_load64(memory + offset + 8) + 7u) & ~UINT64_C(7));
        gpumpi_context_add(sums, memory + offset, section);
        offset += section;
    }
}
static const unsigned char gpumpi_context_magic[8] = {'g', 'p', 'u', 'm', 'p', 'c', 't', 'x'};

/* Adds the sections from `offset` on and the header, whose word 3, the checksum itself, counts as 0; returns the
 * checksum. */
static uint64_t gpumpi_context_sum_up(uint64_t *sums, const unsigned char *memory, uint64_t offset, uint64_t bytes,
                                      uint32_t sections) {
    static const unsigned char zeros[GPUMP_CONTEXT_HEADER_BYTES] = {0};
    const uint64_t magic = gpumpi_context_load64(gpumpi_context_magic);
    const uint64_t counts = GPUMP_CONTEXT_VERSION | (uint64_t)sections << 32;
    uint64_t lanes[8];
    gpumpi_context_add_sections(sums, memory, offset, bytes);
#ifdef GPUMPI_CONTEXT_WIDE
    if (GPUMPI_CONTEXT_WIDE) {
        gpumpi_context_wide(sums, NULL, zeros, sizeof zeros, 3, magic, counts, bytes);
    } else
#endif
    {
        unsigned char header[GPUMP_CONTEXT_HEADER_BYTES];
        memcpy(header, zeros, sizeof header);
        gpumpi_context_store64(header, magic);
        gpumpi_context_store64(header + 8, counts);
        gpumpi_context_store64(header + 16, bytes);
        gpumpi_context_add(sums, header, sizeof header);
    }
    for (size_t lane = 0; lane < 8; lane++) {
        lanes[lane] = GPUMP_HASH_SEED;
        for (size_t sum = 0; sum < 4; sum++) lanes[lane] = gpump_hash_u64(lanes[lane], sums[sum * 8 + lane]);
    }
    return gpumpi_hash_u64s(GPUMP_HASH_SEED, lanes, 8);
}

/* ---- writing ---- */

GPUMP_API gpump_result gpump_context_begin(gpump_context_writer *writer, void *memory, uint64_t capacity) {
    if (!writer || (!memory && capacity)) return GPUMP_ERROR_ARGUMENT;
    gpumpi_context_clear(writer->sums);
    writer->sections = writer->failed = writer->adding = writer->unused = 0;
    writer->memory = (unsigned char *)memory;
    writer->capacity = capacity;
    writer->used = writer->summed = GPUMP_CONTEXT_HEADER_BYTES;
    return GPUMP_OK;
}

/* Adds the section opened last to the checksum, while it is in the caches. Sections behind one that the caller fills
 * are added at the end. */
static void gpumpi_context_close(gpump_context_writer *writer) {
    if (!writer->adding) return;
    gpumpi_context_add(writer->sums, writer->memory + writer->summed, writer->used - writer->summed);
    writer->summed = writer->used;
}
/* Copies `bytes` to `payload` in the section opened last, and adds the section, whose first words are w0 to w2, in the
 * same pass. */
static void gpumpi_context_fill(gpump_context_writer *writer, unsigned char *payload, const void *data, uint64_t bytes,
                                uint64_t w0, uint64_t w1, uint64_t w2) {
    const unsigned char *section = writer->memory + writer->summed;
    if (!writer->adding) {
        memcpy(payload, data, (size_t)bytes);
        return;
    }
    gpumpi_context_copy(writer->sums, payload, (const unsigned char *)data, bytes, section,
                        writer->used - writer->summed, (size_t)(payload - section) / 8, w0, w1, w2);
    writer->summed = writer->used;
}

/* Opens a section; its payload is not cleared, its padding is. */
static unsigned char *gpumpi_context_section(gpump_context_writer *writer, uint32_t type, uint32_t index,
                                             uint64_t bytes) {
    uint64_t room = bytes > UINT64_MAX - 7u ? UINT64_MAX : (bytes + 7u) & ~UINT64_C(7);
    uint64_t start = writer->used;
    unsigned char *section;
    writer->used = gpump_add_saturated(gpump_add_saturated(start, GPUMP_CONTEXT_SECTION_BYTES), room);
    writer->sections++;
    if (writer->used > writer->capacity) {
        writer->failed = 1; /* keeps counting the bytes that are needed */
        return NULL;
    }
    writer->adding = writer->summed == start;
    section = writer->memory + start;
    gpumpi_put_word(section, type);
    gpumpi_put_word(section + 4, index);
    gpumpi_context_store64(section + 8, bytes);
    if (room > bytes) memset(section + GPUMP_CONTEXT_SECTION_BYTES + bytes, 0, (size_t)(room - bytes));
    return section + GPUMP_CONTEXT_SECTION_BYTES;
}

GPUMP_API void *gpump_context_reserve(gpump_context_writer *writer, uint32_t type, uint32_t index, uint64_t bytes) {
    unsigned char *payload = gpumpi_context_section(writer, type, index, bytes);
    if (payload) memset(payload, 0, (size_t)bytes);
    return payload;
}

GPUMP_API void gpump_context_put(gpump_context_writer *writer, uint32_t type, uint32_t index, const void *data,
                                 uint64_t bytes) {
    unsigned char *payload = gpumpi_context_section(writer, type, index, bytes);
    if (payload && bytes)
        gpumpi_context_fill(writer, payload, data, bytes, type | (uint64_t)index << 32, bytes, 0);
    else if (payload)
        gpumpi_context_close(writer);
}

GPUMP_API void gpump_context_put_block(gpump_context_writer *writer, const gpump_context_block *block) {
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_BLOCK, 0, 96);
    if (!at) return;
    for (uint32_t i = 0; i < 4; i++) gpumpi_context_store64(at + i * 8, (&block->cookie)[i]);
    gpumpi_put_words(at + 32, &block->kernel, 16);
    gpumpi_context_close(writer);
}

GPUMP_API void gpump_context_put_registers(gpump_context_writer *writer, uint32_t warp, const uint32_t *values,
                                           uint32_t registers, uint32_t lanes) {
    uint64_t count = (uint64_t)registers * lanes;
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_REGISTERS, warp, 8 + count * 4);
    if (!at) return;
    gpumpi_put_word(at, registers);
    gpumpi_put_word(at + 4, lanes);
#ifdef GPUMPI_COMPRESS_LITTLE
    if (count) {
        gpumpi_context_fill(writer, at + 8, values, count * 4, GPUMP_CONTEXT_REGISTERS | (uint64_t)warp << 32,
                            8 + count * 4, registers | (uint64_t)lanes << 32);
        return;
    }
#else
    if (count) gpumpi_put_words(at + 8, values, (size_t)count);
#endif
    gpumpi_context_close(writer);
}

GPUMP_API void gpump_context_put_stack(gpump_context_writer *writer, uint32_t warp,
                                       const gpump_context_stack_entry *entries, uint32_t count) {
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_STACK, warp, (uint64_t)count * 16);
    if (!at) return;
    for (uint32_t i = 0; i < count; i++, at += 16) {
        gpumpi_put_word(at, entries[i].pc);
        gpumpi_put_word(at + 4, entries[i].reconvergence_pc);
        gpumpi_context_store64(at + 8, entries[i].lanes);
    }
    gpumpi_context_close(writer);
}

GPUMP_API void gpump_context_put_words(gpump_context_writer *writer, uint32_t type, uint32_t index,
                                       const uint64_t *words, uint32_t count) {
    unsigned char *at = gpumpi_context_section(writer, type, index, (uint64_t)count * 8);
    if (!at) return;
    for (uint32_t i = 0; i < count; i++) gpumpi_context_store64(at + i * 8u, words[i]);
    gpumpi_context_close(writer);
}

GPUMP_API void gpumpi_context_put_control(gpump_context_writer *writer, const gpump_context_control *control) {
    unsigned char *at = gpumpi_context_section(writer, GPUMP_CONTEXT_CONTROL, 0, 32);
    if (!at) return;
    gpumpi_put_words(at, &control->in_place, 8);
    gpumpi_context_close(writer);
}

enum { GPUMPI_CONTEXT_COMPRESSED_BYTES = 32 };

GPUMP_API gpump_result gpumpi_context_put_compressed(gpump_context_writer *writer, uint32_t index,
                                                     const gpump_compress_layout *layout, const uint32_t *values,
                                                     const uint64_t *live, uint32_t allow, gpump_diag *diag) {
    size_t bound, bytes;
    uint32_t form;
    uint64_t start;
    unsigned char *at;
    gpump_result result = writer ? gpump_compress_bound(layout, &bound, diag) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    start = writer->used;
    at = gpumpi_context_section(writer, GPUMP_CONTEXT_COMPRESSED, index,
                                GPUMPI_CONTEXT_COMPRESSED_BYTES + (uint64_t)bound);
    if (!at) return GPUMP_OK; /* gpump_context_end says how much was needed */
    result = gpump_compress_save(layout, values, live, allow, at + GPUMPI_CONTEXT_COMPRESSED_BYTES, bound, &bytes,
                                 &form, diag);
    if (result) { /* takes the section back */
        writer->used = start;
        writer->sections--;
        return result;
    }
    memset(at, 0, GPUMPI_CONTEXT_COMPRESSED_BYTES);
    gpumpi_put_word(at, form);
    gpumpi_put_word(at + 4, layout->warps);
    gpumpi_put_word(at + 8, layout->registers);
    gpumpi_put_word(at + 12, layout->lanes);
    gpumpi_put_word(at + 16, layout->last_lanes);
    gpumpi_put_word(at + 20, layout->group);
    gpumpi_put_word(at + 24, (uint32_t)bytes);
    gpumpi_context_store64(at - 8, GPUMPI_CONTEXT_COMPRESSED_BYTES + (uint64_t)bytes);
    writer->used =
        start + GPUMP_CONTEXT_SECTION_BYTES + ((GPUMPI_CONTEXT_COMPRESSED_BYTES + (uint64_t)bytes + 7u) & ~UINT64_C(7));
    /* the saver may have used the room behind what it kept: padding is zero */
    memset(at + GPUMPI_CONTEXT_COMPRESSED_BYTES + bytes, 0,
           (size_t)(writer->used - start - GPUMP_CONTEXT_SECTION_BYTES) - GPUMPI_CONTEXT_COMPRESSED_BYTES - bytes);
    gpumpi_context_close(writer);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_end(gpump_context_writer *writer, uint64_t *bytes) {
    if (!writer || !bytes) return GPUMP_ERROR_ARGUMENT;
    *bytes = writer->used;
    if (writer->failed || writer->used > writer->capacity) return GPUMP_ERROR_CAPACITY;
    memset(writer->memory, 0, GPUMP_CONTEXT_HEADER_BYTES);
    memcpy(writer->memory, gpumpi_context_magic, 8);
    gpumpi_put_word(writer->memory + 8, GPUMP_CONTEXT_VERSION);
    gpumpi_put_word(writer->memory + 12, writer->sections);
    gpumpi_context_store64(writer->memory + 16, writer->used);
    gpumpi_context_store64(writer->memory + 24, gpumpi_context_sum_up(writer->sums, writer->memory, writer->summed,
                                                                      writer->used, writer->sections));
    return GPUMP_OK;
}

/* ---- reading ---- */

GPUMP_API gpump_result gpump_context_open_unverified(gpump_context_reader *reader, const void *memory, uint64_t bytes,
                                                     gpump_diag *diag) {
    const unsigned char *at = (const unsigned char *)memory;
    uint64_t total, offset = GPUMP_CONTEXT_HEADER_BYTES;
    uint32_t sections;
    if (!reader || !memory) return gpumpi_null(diag, reader ? "memory" : "reader");
    if (bytes < GPUMP_CONTEXT_HEADER_BYTES)
        return gpumpi_bad_bytes(diag, "truncated header", bytes, bytes, GPUMP_CONTEXT_HEADER_BYTES, UINT64_MAX);
    for (uint32_t i = 0; i < 8; i++)
        if (at[i] != gpumpi_context_magic[i])
            return gpumpi_bad_bytes(diag, "magic", i, at[i], gpumpi_context_magic[i], gpumpi_context_magic[i]);
    if (gpumpi_get_word(at + 8) != GPUMP_CONTEXT_VERSION)
        return gpumpi_bad_bytes(diag, "version", 8, gpumpi_get_word(at + 8), GPUMP_CONTEXT_VERSION,
                                GPUMP_CONTEXT_VERSION);
    sections = gpumpi_get_word(at + 12);
    total = gpumpi_context_load64(at + 16);
    if (total < GPUMP_CONTEXT_HEADER_BYTES || total % 8u)
        return gpumpi_bad_bytes(diag, "length", 16, total, GPUMP_CONTEXT_HEADER_BYTES, bytes);
    if (total > bytes) return gpumpi_bad_bytes(diag, "truncated", bytes, bytes, total, UINT64_MAX);
    if (gpumpi_context_load64(at + 32))
        return gpumpi_bad_bytes(diag, "reserved", 32, gpumpi_context_load64(at + 32), 0, 0);
    for (uint32_t i = 0; i < sections; i++) {
        uint64_t length, padded;
        if (total - offset < GPUMP_CONTEXT_SECTION_BYTES)
            return gpumpi_bad_bytes(diag, "truncated section", offset, total - offset, GPUMP_CONTEXT_SECTION_BYTES,
                                    UINT64_MAX);
        length = gpumpi_context_load64(at + offset + 8);
        if (length > total - offset - GPUMP_CONTEXT_SECTION_BYTES)
            return gpumpi_bad_bytes(diag, "section length", offset + 8, length, 0,
                                    total - offset - GPUMP_CONTEXT_SECTION_BYTES);
        padded = (length + 7u) & ~UINT64_C(7); /* the rest is a multiple of 8: this fits too */
        for (uint64_t k = length; k < padded; k++)
            if (at[offset + GPUMP_CONTEXT_SECTION_BYTES + k])
                return gpumpi_bad_bytes(diag, "padding", offset + GPUMP_CONTEXT_SECTION_BYTES + k,
                                        at[offset + GPUMP_CONTEXT_SECTION_BYTES + k], 0, 0);
        offset += GPUMP_CONTEXT_SECTION_BYTES + padded;
    }
    if (offset != total) return gpumpi_bad_bytes(diag, "sections", 12, sections, 0, total - offset);
    gpumpi_context_clear(reader->sums);
    reader->memory = at;
    reader->bytes = total;
    reader->next = reader->summed = GPUMP_CONTEXT_HEADER_BYTES;
    reader->sections = sections;
    reader->unverified = 1;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_context_verify(gpump_context_reader *reader, gpump_diag *diag) {
    uint64_t written;
    if (!reader || !reader->memory) return gpumpi_null(diag, "reader");
    if (!reader->unverified) return GPUMP_OK;
    if (reader->unverified == 1) { /* later calls find the checksum in sums[0] */
        reader->sums[0] =
            gpumpi_context_sum_up(reader->sums, reader->memory, reader->summed, reader->bytes, reader->sections);
        reader->summed = reader->bytes;
        reader->unverified = 2;
    }
    written = gpumpi_context_load64(reader->memory + 24);
    if (reader->sums[0] != written)
        return gpumpi_bad_bytes(diag, "checksum", 24, written, reader->sums[0], reader->sums[0]);
    reader->unverified = 0;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_open(gpump_context_reader *reader, const void *memory, uint64_t bytes,
                                          gpump_diag *diag) {
    gpump_context_reader opened;
    gpump_result result;
    opened.memory = NULL;
    result = gpump_context_open_unverified(reader ? &opened : NULL, memory, bytes, diag);
    if (!result) result = gpumpi_context_verify(&opened, diag);
    if (!result) *reader = opened;
    return result;
}

GPUMP_API gpump_result gpump_context_next(gpump_context_reader *reader, gpump_context_section *section) {
    const unsigned char *at;
    if (!reader || !section) return GPUMP_ERROR_ARGUMENT;
    if (reader->next >= reader->bytes) {
        reader->next = GPUMP_CONTEXT_HEADER_BYTES;
        return GPUMP_EMPTY;
    }
    at = reader->memory + reader->next;
    section->type = gpumpi_get_word(at);
    section->index = gpumpi_get_word(at + 4);
    section->bytes = gpumpi_context_load64(at + 8);
    section->offset = reader->next + GPUMP_CONTEXT_SECTION_BYTES;
    section->payload = at + GPUMP_CONTEXT_SECTION_BYTES;
    reader->next = section->offset + ((section->bytes + 7u) & ~UINT64_C(7));
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_find(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                          gpump_context_section *section) {
    gpump_context_section found;
    if (!reader || !section) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t steps = 0; steps <= reader->sections; steps++) { /* once around, the end of the walk included */
        if (gpump_context_next(reader, &found)) continue;
        if (found.type == type && found.index == index) {
            *section = found;
            return GPUMP_OK;
        }
    }
    return GPUMP_EMPTY;
}

GPUMP_API gpump_result gpump_context_get_block(gpump_context_reader *reader, gpump_context_block *block) {
    gpump_context_section section;
    gpump_result result = block ? gpump_context_find(reader, GPUMP_CONTEXT_BLOCK, 0, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes != 96) return GPUMP_ERROR_FORMAT;
    for (uint32_t i = 0; i < 4; i++) (&block->cookie)[i] = gpumpi_context_load64(section.payload + i * 8);
    gpumpi_get_words(section.payload + 32, &block->kernel, 16);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_registers(gpump_context_reader *reader, uint32_t warp, uint32_t *values,
                                                   uint32_t registers, uint32_t lanes) {
    gpump_context_section section;
    uint64_t count = (uint64_t)registers * lanes;
    gpump_result result = gpump_context_find(reader, GPUMP_CONTEXT_REGISTERS, warp, &section);
    if (result) return result;
    if (count && !values) return GPUMP_ERROR_ARGUMENT;
    if (section.bytes < 8 || gpumpi_get_word(section.payload) != registers ||
        gpumpi_get_word(section.payload + 4) != lanes || section.bytes != 8 + count * 4)
        return GPUMP_ERROR_FORMAT;
    if (!count) return GPUMP_OK;
#ifdef GPUMPI_COMPRESS_LITTLE
    if (reader->unverified && section.offset > reader->summed) { /* the first pass over this section is the copy */
        const uint64_t start = section.offset - GPUMP_CONTEXT_SECTION_BYTES;
        const uint64_t end = section.offset + ((section.bytes + 7u) & ~UINT64_C(7));
        gpumpi_context_add_sections(reader->sums, reader->memory, reader->summed, start);
        gpumpi_context_copy(reader->sums, (unsigned char *)values, section.payload + 8, count * 4,
                            reader->memory + start, end - start, 3, gpumpi_context_load64(reader->memory + start),
                            section.bytes, registers | (uint64_t)lanes << 32);
        reader->summed = end;
        return GPUMP_OK;
    }
#endif
    gpumpi_get_words(section.payload + 8, values, (size_t)count);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_stack(gpump_context_reader *reader, uint32_t warp,
                                               gpump_context_stack_entry *entries, uint32_t capacity, uint32_t *count) {
    gpump_context_section section;
    gpump_result result =
        count ? gpump_context_find(reader, GPUMP_CONTEXT_STACK, warp, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes % 16 || section.bytes / 16 > UINT32_MAX) return GPUMP_ERROR_FORMAT;
    *count = (uint32_t)(section.bytes / 16);
    if (*count > capacity || (*count && !entries)) return GPUMP_ERROR_CAPACITY;
    for (uint32_t i = 0; i < *count; i++) {
        entries[i].pc = gpumpi_get_word(section.payload + i * 16u);
        entries[i].reconvergence_pc = gpumpi_get_word(section.payload + i * 16u + 4);
        entries[i].lanes = gpumpi_context_load64(section.payload + i * 16u + 8);
    }
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_get_words(gpump_context_reader *reader, uint32_t type, uint32_t index,
                                               uint64_t *words, uint32_t capacity, uint32_t *count) {
    gpump_context_section section;
    gpump_result result = count ? gpump_context_find(reader, type, index, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes % 8 || section.bytes / 8 > UINT32_MAX) return GPUMP_ERROR_FORMAT;
    *count = (uint32_t)(section.bytes / 8);
    if (*count > capacity || (*count && !words)) return GPUMP_ERROR_CAPACITY;
    for (uint32_t i = 0; i < *count; i++) words[i] = gpumpi_context_load64(section.payload + i * 8u);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_context_get_control(gpump_context_reader *reader, gpump_context_control *control) {
    gpump_context_section section;
    gpump_result result =
        control ? gpump_context_find(reader, GPUMP_CONTEXT_CONTROL, 0, &section) : GPUMP_ERROR_ARGUMENT;
    if (result) return result;
    if (section.bytes != 32 || gpumpi_get_word(section.payload) > (GPUMP_PART_REGISTERS | GPUMP_PART_SHARED_MEMORY))
        return GPUMP_ERROR_FORMAT;
    gpumpi_get_words(section.payload, &control->in_place, 8);
    return GPUMP_OK;
}

GPUMP_API gpump_result gpumpi_context_get_compressed(gpump_context_reader *reader, uint32_t index,
                                                     const gpump_compress_layout *layout, uint32_t *values,
                                                     gpump_diag *diag) {
    gpump_context_section section;
    const uint32_t *shape;
    gpump_result result =
        layout && values ? gpump_context_find(reader, GPUMP_CONTEXT_COMPRESSED, index, &section) : GPUMP_ERROR_ARGUMENT;
    if (result < 0) return gpumpi_fail_at(diag, result, "arguments", 0);
    if (result) return result;
    if (section.bytes < GPUMPI_CONTEXT_COMPRESSED_BYTES ||
        gpumpi_get_word(section.payload + 24) != section.bytes - GPUMPI_CONTEXT_COMPRESSED_BYTES)
        return gpumpi_bad_bytes(diag, "compressed length", section.offset + 24, section.bytes,
                                GPUMPI_CONTEXT_COMPRESSED_BYTES, UINT32_MAX);
    shape = &layout->warps; /* warps, registers, lanes, last_lanes, group stand in the same order in both */
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t written = gpumpi_get_word(section.payload + 4 + i * 4);
        if (written != shape[i])
            return gpumpi_bad_bytes(diag, "compressed shape", section.offset + 4 + i * 4, written, shape[i], shape[i]);
    }
    return gpump_compress_restore(layout, gpumpi_get_word(section.payload), 0,
                                  section.payload + GPUMPI_CONTEXT_COMPRESSED_BYTES,
                                  (size_t)(section.bytes - GPUMPI_CONTEXT_COMPRESSED_BYTES), values, diag);
}

/* Bytes of the section LOG that belong to a section REPLAY: those of entries that were issued (flag bit 0). */
static uint64_t gpumpi_context_logged(const gpump_context_section *section, uint32_t lanes) {
    uint64_t bytes = 0;
    for (uint64_t at = 0; at + 32 <= section->bytes; at += 32) {
        const uint64_t units = gpumpi_get_word(section->payload + at + 24);
        if (units && (gpumpi_get_word(section->payload + at + 28) & 1u)) bytes += 16 + 8 * units * lanes;
    }
    return bytes;
}

GPUMP_API uint32_t gpump_context_missing(gpump_context_reader *reader, uint32_t shared_bytes) {
    enum { WARPS = 1024 };
    uint64_t registers[WARPS / 64], stacks[WARPS / 64];
    gpump_context_reader walk = *reader;
    gpump_context_block block;
    gpump_context_control control;
    gpump_context_section section;
    uint64_t entries = 0, logged = 0, log = 0;
    uint32_t missing = 0, in_place = 0;
    int shared = !shared_bytes, together = 0;
    if (gpump_context_get_block(&walk, &block) || block.warps > WARPS) return GPUMP_PART_BLOCK;
    if (!gpumpi_context_get_control(&walk, &control)) in_place = control.in_place;
    memset(registers, 0, sizeof registers);
    memset(stacks, 0, sizeof stacks);
    walk.next = GPUMP_CONTEXT_HEADER_BYTES;
    while (!gpump_context_next(&walk, &section)) {
        shared |= section.type == GPUMP_CONTEXT_SHARED && section.bytes == shared_bytes;
        together |= section.type == GPUMP_CONTEXT_COMPRESSED && section.index == GPUMP_NONE;
        if (section.index >= WARPS) continue;
        if (section.type == GPUMP_CONTEXT_REPLAY) {
            entries += section.bytes / 32;
            logged += gpumpi_context_logged(&section, block.lanes);
        }
        if (section.type == GPUMP_CONTEXT_LOG) log += section.bytes;
        if (section.type == GPUMP_CONTEXT_REGISTERS || section.type == GPUMP_CONTEXT_COMPRESSED ||
            section.type == GPUMP_CONTEXT_FRAME)
            gpump_bits_set(registers, section.index);
        if (section.type == GPUMP_CONTEXT_STACK) {
            gpump_bits_set(stacks, section.index);
            if (!section.bytes)
                gpump_bits_set(registers, section.index); /* the warp has ended and needs no registers */
        }
    }
    if (!shared && !(in_place & GPUMP_PART_SHARED_MEMORY)) missing |= GPUMP_PART_SHARED_MEMORY;
    if (entries < block.replay_entries) missing |= GPUMP_PART_REPLAY;
    if (log < logged) missing |= GPUMP_PART_LOG;
    if (!block.registers || together) in_place |= GPUMP_PART_REGISTERS;
    for (uint32_t warp = 0; warp < block.warps; warp++) {
        if (!(in_place & GPUMP_PART_REGISTERS) && !gpump_bits_get(registers, warp)) missing |= GPUMP_PART_REGISTERS;
        if (!gpump_bits_get(stacks, warp)) missing |= GPUMP_PART_STACKS;
    }
    return missing;
}

GPUMP_API uint32_t gpumpi_context_unknown_sections(const gpump_context_reader *reader) {
    gpump_context_reader walk = *reader;
    gpump_context_section section;
    uint32_t unknown = 0;
    walk.next = GPUMP_CONTEXT_HEADER_BYTES;
    while (!gpump_context_next(&walk, &section))
        unknown += section.type == 0 || (section.type >= GPUMP_CONTEXT_TYPES && section.type < GPUMP_CONTEXT_HOST);
    return unknown;
}

/* ---- the pool ---- */

#define GPUMPI_CONTEXT_POOL_MAGIC UINT64_C(0x67706d70706f6f6c) /* "gpmppool" */

struct gpump_context_pool {
    gpumpi_head head;
    gpump_context_pool_config config;
    uint32_t words, unused;
    /* then per kernel: owner (0: none), taken; then per kernel: `words` words of taken contexts */
};
typedef struct gpumpi_context_space {
    uint64_t owner;
    uint64_t taken;
} gpumpi_context_space;

static gpumpi_context_space *gpumpi_context_spaces(gpump_context_pool *pool) {
    return (gpumpi_context_space *)(void *)(pool + 1);
}
static const gpumpi_context_space *gpumpi_context_spaces_const(const gpump_context_pool *pool) {
    return (const gpumpi_context_space *)(const void *)(pool + 1);
}
static uint64_t *gpumpi_context_bits(gpump_context_pool *pool, uint32_t space) {
    return (uint64_t *)(void *)(gpumpi_context_spaces(pool) + pool->config.kernels) + (size_t)space * pool->words;
}

static gpump_result gpumpi_context_pool_check_config(const void *checked, gpump_diag *diag) {
    static const gpumpi_limit limits[] = {
        GPUMPI_LIMIT(gpump_context_pool_config, kernels, 1, 4096),
        GPUMPI_LIMIT(gpump_context_pool_config, contexts, 1, 65536),
    };
    const gpump_context_pool_config *config = (const gpump_context_pool_config *)checked;
    const gpump_result result = GPUMPI_CHECK_LIMITS(config, limits, diag);
    return result ? result : gpumpi_range(diag, "context_bytes", config->context_bytes, 1, UINT64_MAX);
}
static uint64_t gpumpi_context_pool_bytes(const void *of) {
    const gpump_context_pool_config *config = (const gpump_context_pool_config *)of;
    return sizeof(gpump_context_pool) +
           (size_t)config->kernels * (sizeof(gpumpi_context_space) + 8u * gpump_bits_words(config->contexts));
}

static void gpumpi_context_pool_set_up(void *object) {
    gpump_context_pool *fresh = (gpump_context_pool *)object;
    const gpump_context_pool_config *config = &fresh->config;
    fresh->words = gpump_bits_words(config->contexts);
}

static const char *gpumpi_context_pool_unfit(const void *object) {
    const gpump_context_pool *pool = (const gpump_context_pool *)object;
    return pool->words == gpump_bits_words(pool->config.contexts) ? NULL : "words";
}

static gpump_result gpumpi_context_pool_check(const void *object, gpump_diag *diag) {
    const gpump_context_pool *pool = (const gpump_context_pool *)object;
    const gpumpi_context_space *spaces;
    const uint64_t *bits;
    const char *wrong = NULL;
    spaces = gpumpi_context_spaces_const(pool);
    bits = (const uint64_t *)(const void *)(spaces + pool->config.kernels);
    for (uint32_t i = 0; i < pool->config.kernels && !wrong; i++, bits += pool->words) {
        if (pool->config.contexts & 63u && bits[pool->words - 1] >> (pool->config.contexts & 63u))
            wrong = "a context beyond the last";
        if (spaces[i].taken != gpump_bits_count(bits, pool->words)) wrong = "counts of contexts differ";
        if (spaces[i].owner > UINT32_MAX || (!spaces[i].owner && spaces[i].taken)) wrong = "contexts of no kernel";
        for (uint32_t j = 0; j < i; j++)
            if (spaces[i].owner && spaces[j].owner == spaces[i].owner) wrong = "a kernel with two spaces";
    }
    return wrong ? gpumpi_fail_at(diag, GPUMP_ERROR_FORMAT, wrong, 0) : GPUMP_OK;
}

static uint64_t gpumpi_context_pool_hash(const void *object) {
    const gpump_context_pool *pool = (const gpump_context_pool *)object;
    const uint64_t *words = (const uint64_t *)(const void *)(gpumpi_context_spaces_const(pool) + pool->config.kernels);
    uint64_t hash = gpumpi_hash_u64s(gpump_hash_u64(GPUMP_HASH_SEED, pool->config.context_bytes), words,
                                     (size_t)pool->config.kernels * pool->words);
    hash = gpump_hash_u64(gpumpi_hash_u32s(hash, &pool->config.kernels, 2), pool->words);
    for (uint32_t i = 0; i < pool->config.kernels; i++)
        hash = gpump_hash_u64(gpump_hash_u64(hash, gpumpi_context_spaces_const(pool)[i].owner),
                              gpumpi_context_spaces_const(pool)[i].taken);
    return hash;
}

static uint64_t gpumpi_context_pool_bits(const void *of) {
    const gpump_context_pool_config *config = (const gpump_context_pool_config *)of;
    return config->kernels * (15 + (uint64_t)config->contexts);
}

static uint32_t gpumpi_context_space_of(const gpump_context_pool *pool, uint64_t owner) {
    for (uint32_t i = 0; i < pool->config.kernels; i++)
        if (gpumpi_context_spaces_const(pool)[i].owner == owner) return i;
    return GPUMP_NONE;
}

GPUMP_API gpump_result gpump_context_pool_open(gpump_context_pool *pool, uint32_t kernel) {
    uint32_t space;
    if (!pool || !kernel) return GPUMP_ERROR_ARGUMENT;
    if (gpumpi_context_space_of(pool, kernel) != GPUMP_NONE) return GPUMP_ERROR_STATE;
    space = gpumpi_context_space_of(pool, 0);
    if (space == GPUMP_NONE) return GPUMP_ERROR_FULL;
    gpumpi_context_spaces(pool)[space].owner = kernel;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_close(gpump_context_pool *pool, uint32_t kernel) {
    uint32_t space;
    if (!pool || !kernel) return GPUMP_ERROR_ARGUMENT;
    space = gpumpi_context_space_of(pool, kernel);
    if (space == GPUMP_NONE || gpumpi_context_spaces(pool)[space].taken) return GPUMP_ERROR_STATE;
    gpumpi_context_spaces(pool)[space].owner = 0;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_take(gpump_context_pool *pool, uint32_t kernel, uint64_t bytes,
                                               uint64_t *context) {
    uint32_t space, word = 0, bit;
    uint64_t *bits;
    if (!pool || !kernel || !context) return GPUMP_ERROR_ARGUMENT;
    space = gpumpi_context_space_of(pool, kernel);
    if (space == GPUMP_NONE) return GPUMP_ERROR_STATE;
    if (bytes > pool->config.context_bytes) return GPUMP_ERROR_CAPACITY;
    if (gpumpi_context_spaces(pool)[space].taken == pool->config.contexts) return GPUMP_ERROR_FULL;
    bits = gpumpi_context_bits(pool, space);
    while (bits[word] == UINT64_MAX) word++;
    bit = word * 64u + gpump_bits_lowest64(~bits[word]);
    gpump_bits_set(bits, bit);
    gpumpi_context_spaces(pool)[space].taken++;
    *context = (uint64_t)space * pool->config.contexts + bit;
    return GPUMP_OK;
}

GPUMP_API gpump_result gpump_context_pool_give(gpump_context_pool *pool, uint64_t context) {
    uint32_t space, bit;
    if (!pool || context >= (uint64_t)pool->config.kernels * pool->config.contexts) return GPUMP_ERROR_ARGUMENT;
    space = (uint32_t)(context / pool->config.contexts);
    bit = (uint32_t)(context % pool->config.contexts);
    if (!gpump_bits_get(gpumpi_context_bits(pool, space), bit)) return GPUMP_ERROR_STATE;
    gpump_bits_clear(gpumpi_context_bits(pool, space), bit);
    gpumpi_context_spaces(pool)[space].taken--;
    return GPUMP_OK;
}

GPUMP_API gpump_context_room gpump_context_pool_room(const gpump_context_pool *pool, uint32_t kernel) {
    const uint32_t space = kernel ? gpumpi_context_space_of(pool, kernel) : GPUMP_NONE;
    gpump_context_room room = {0, 0, 0};
    room.kernel = kernel;
    if (space == GPUMP_NONE) return room;
    room.context_bytes = pool->config.context_bytes;
    room.contexts = pool->config.contexts - (uint32_t)gpumpi_context_spaces_const(pool)[space].taken;
    return room;
}

/* clang-format off */
static const gpumpi_methods gpumpi_context_pool_hooks = {
    "context_pool", "context", GPUMPI_CONTEXT_POOL_MAGIC,
    GPUMP_LAYOUT_CONTEXT, sizeof(gpump_context_pool_config), offsetof(gpump_context_pool, config), 0,
    0, NULL, 0,
    /* preset, check_config, bytes, bits, tables */
    NULL, gpumpi_context_pool_check_config, gpumpi_context_pool_bytes, gpumpi_context_pool_bits, NULL,
    /* set_up, unfit, check, hash */
    gpumpi_context_pool_set_up, gpumpi_context_pool_unfit, gpumpi_context_pool_check, gpumpi_context_pool_hash,
    /* preset_for, next_cycle, copy_statistics */
    NULL, NULL, NULL,
};
/* clang-format on */
GPUMP_API const gpumpi_methods *gpumpi_context_pool_methods(void) { return &gpumpi_context_pool_hooks; }
