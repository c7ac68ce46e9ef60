/* labels: unit property */
/* What is overwritten in a region, or in a block that starts afresh: straight code against the definitions. */
#include "program/program_tools.h"

enum { LENGTH = 30, WORDS_USED = 4, USED = 6, FOUND = 400 };

/* One instruction as the test drew it; registers as bits. */
typedef struct row {
    uint32_t operation, access, word, bytes, once, guarded, reads, writes, level;
} row;

static int starts_region(const row *rows, uint32_t i, uint32_t level) {
    return rows[i].operation == GPUMP_OP_BOUNDARY && rows[i].level <= level;
}
/* Has the thread itself surely written what i reads, just as wide, since the region's start (level GPUMP_NONE: ever)?
 */
static int own_value(const row *rows, uint32_t i, uint32_t level) {
    for (uint32_t j = i; j-- > 0;) {
        if (level != GPUMP_NONE && starts_region(rows, j + 1, level)) return 0;
        if (rows[j].access & GPUMP_ACCESS_WRITE && rows[j].word == rows[i].word && rows[j].bytes == rows[i].bytes &&
            !rows[j].guarded)
            return 1;
    }
    return 0;
}
static uint32_t clobbers_of_memory(const row *rows, uint32_t count, uint32_t level, gpump_clobber *list) {
    uint32_t found = 0, w, at;
    for (w = 0; w < count; w++) {
        if (!(rows[w].access & GPUMP_ACCESS_WRITE)) continue;
        if (rows[w].once && starts_region(rows, w + 1, level)) continue; /* the two commit together */
        for (at = w; at > 0 && !starts_region(rows, at, level); at--) {
            const row *read = &rows[at - 1];
            if (!(read->access & GPUMP_ACCESS_READ) || read->word != rows[w].word || own_value(rows, at - 1, level))
                continue;
            list[found].start = list[found].reg = GPUMP_NONE;
            list[found].read = at - 1;
            list[found++].write = w;
            break;
        }
    }
    return found;
}
static uint32_t clobbers_of_registers(const row *rows, uint32_t count, uint32_t level, const gpump_liveness *liveness,
                                      uint32_t apart, gpump_clobber *list) {
    uint32_t found = 0, s, i, r;
    uint64_t live[8];
    for (s = 0; s < count; s++) {
        if (!starts_region(rows, s, level)) continue;
        gpump_liveness_before(liveness, s, live);
        for (r = 0; r < USED; r++) {
            int was_read = 0, gone = !gpump_bits_get(live, r * apart);
            for (i = s; i < count && !gone && (i == s || !starts_region(rows, i, level)); i++) {
                was_read |= (int)(rows[i].reads >> r & 1u);
                if (!(rows[i].writes >> r & 1u)) continue;
                if (was_read) {
                    list[found].start = s;
                    list[found].read = GPUMP_NONE;
                    list[found].write = i;
                    list[found++].reg = r * apart;
                    break;
                }
                gone = !rows[i].guarded;
            }
        }
    }
    return found;
}
static int by_members(const void *a, const void *b) { return memcmp(a, b, sizeof(gpump_clobber)); }

/* Draws a program; register 0 is the predicate. */
static gpump_program *draw(uint64_t *random, row *rows, uint32_t count, uint32_t registers) {
    const uint32_t apart = registers / USED;
    test_builder b = test_build(NULL);
    uint32_t i, r, objects[2];
    for (r = 0; r < registers; r++) test_register(&b, r ? GPUMP_WIDTH_32 : GPUMP_WIDTH_PREDICATE);
    objects[0] = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    objects[1] = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    for (i = 0; i < count; i++) {
        const uint32_t kind = gpump_random_below(random, 12);
        gpump_instruction in = gpump_instruction_make(kind == 0   ? GPUMP_OP_BOUNDARY
                                                      : kind == 1 ? GPUMP_OP_BARRIER
                                                                  : GPUMP_OP_COMPUTE);
        uint32_t def = 1 + gpump_random_below(random, USED - 1),
                 uses[2] = {1 + gpump_random_below(random, USED - 1), 1 + gpump_random_below(random, USED - 1)};
        memset(&rows[i], 0, sizeof rows[i]);
        rows[i].operation = in.operation;
        if (kind == 0) in.immediate = rows[i].level = gpump_random_below(random, 2);
        if (kind >= 2) {
            in.use_count = gpump_random_below(random, 3);
            if (kind >= 4) {
                rows[i].access = in.access = kind < 8 ? GPUMP_ACCESS_READ : kind < 11 ? GPUMP_ACCESS_WRITE : 3u;
                rows[i].word = gpump_random_below(random, WORDS_USED);
                rows[i].once = in.access == 3 || gpump_random_below(random, 6) == 0;
                if (rows[i].once) in.flags = in.access == 3 ? GPUMP_FLAG_ATOMIC : GPUMP_FLAG_VOLATILE;
                in.space = GPUMP_SPACE_GLOBAL;
                in.object = objects[rows[i].word & 1u];
                in.address = GPUMP_ADDRESS_FIXED;
                in.offset = 8 * (int64_t)(rows[i].word >> 1);
                rows[i].bytes = in.bytes =
                    gpump_random_below(random, 2) ? 4 : 8; /* of a word; it overlaps with no other one */
                in.use_count += !in.use_count;
            }
            in.def_count = in.access != GPUMP_ACCESS_WRITE;
            rows[i].guarded = gpump_random_below(random, 4) == 0;
            if (rows[i].guarded) in.guard = 0, rows[i].reads |= 1;
            for (r = 0; r < in.use_count; r++) rows[i].reads |= 1u << uses[r];
            if (in.def_count) rows[i].writes |= 1u << def;
            def *= apart;
            uses[0] *= apart, uses[1] *= apart;
            in.defs = &def;
            in.uses = uses;
        }
        test_add(&b, &in);
    }
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    memset(&rows[count], 0, sizeof rows[count]);
    return b.program;
}

/* The clobbers that are found are those of the definition, for registers and for memory. */
static void lists_are_the_definition(void **state) {
    static const uint32_t sizes[] = {USED, 70, 200};
    uint64_t seed = test_seed(), random = seed, found[2] = {0, 0}, n;
    (void)state;
    for (n = 0; n < test_cases(6000); n++) {
        row rows[LENGTH + 1];
        gpump_clobber expected[FOUND], list[FOUND];
        const uint32_t count = 4 + gpump_random_below(&random, LENGTH - 4), registers = sizes[n % 3];
        gpump_program *program = draw(&random, rows, count, registers);
        gpump_liveness *liveness;
        uint32_t level, unit, size, memory;
        assert_int_equal(gpump_liveness_create(program, test_watched(), &liveness), GPUMP_OK);
        for (level = 0; level < 2; level++)
            for (unit = GPUMP_UNIT_THREAD; unit <= GPUMP_UNIT_WARP; unit++) {
                uint32_t k, needed = 0;
                memory = clobbers_of_memory(rows, count, level, expected);
                size =
                    memory + clobbers_of_registers(rows, count, level, liveness, registers / USED, expected + memory);
                test_check(gpump_clobbers_find(program, unit, level, list, FOUND, &needed) == GPUMP_OK, seed, n);
                test_check(needed == size, seed, n);
                for (k = 0; k < memory; k++) test_check(list[k].reg == GPUMP_NONE, seed, n); /* memory first */
                qsort(expected, size, sizeof *expected, by_members);
                qsort(list, size, sizeof *list, by_members);
                test_check(!memcmp(list, expected, size * sizeof *list), seed, n);
                found[0] += memory, found[1] += size - memory;
                if (!size) continue;
                needed = 0;
                list[0].write = 77;
                test_check(gpump_clobbers_find(program, unit, level, list, size - 1, &needed) == GPUMP_ERROR_CAPACITY &&
                               needed == size && list[0].write == 77,
                           seed, n);
            }
        gpump_liveness_destroy(liveness);
        gpump_program_destroy(program);
    }
    assert_true(found[0] > n && found[1] > n);
}

/* A block may not start afresh behind an atomic, a volatile write, or a write to what some thread may have read: in
 * front of the same barrier, or of one before it. */
static void marks_are_the_definition(void **state) {
    uint64_t seed = test_seed(), random = seed, marked = 0, n;
    (void)state;
    for (n = 0; n < test_cases(6000); n++) {
        row rows[LENGTH + 1];
        const uint32_t count = 4 + gpump_random_below(&random, LENGTH - 4);
        gpump_program *program = draw(&random, rows, count, USED);
        uint8_t marks[LENGTH + 1];
        uint32_t i, r, parts[LENGTH + 1], part = 0, sum = 0, total = 77;
        for (i = 0; i < count; i++) {
            parts[i] = part;
            part += rows[i].operation == GPUMP_OP_BARRIER;
        }
        test_check(gpump_clobbers_block(program, marks, &total) == GPUMP_OK, seed, n);
        for (i = 0; i <= count; i++) {
            int expected = (rows[i].access & GPUMP_ACCESS_WRITE) && rows[i].once;
            for (r = 0; r < count && rows[i].access & GPUMP_ACCESS_WRITE; r++)
                expected |= rows[r].access & GPUMP_ACCESS_READ && rows[r].word == rows[i].word &&
                            !own_value(rows, r, GPUMP_NONE) && parts[r] <= parts[i];
            test_check(marks[i] == expected, seed, n);
            sum += (uint32_t)expected;
        }
        test_check(total == sum, seed, n);
        marked += sum;
        gpump_program_destroy(program);
    }
    assert_true(marked > n);
}

/* More than 64 places, written before a branch and read behind it: none of them can be clobbered, except the one that
 * a side alone has written. */
static void many_places(void **state) {
    (void)state;
    for (uint32_t missing = 0; missing < 70; missing += 23) {
        test_builder b = test_build(NULL);
        const uint32_t x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE),
                       o = test_object(&b, GPUMP_SPACE_SHARED, GPUMP_NONE);
        gpump_clobber list[2];
        uint32_t k, count = 0;
        for (k = 0; k < 70; k++)
            if (k != missing)
                test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_FIXED, 0, 4 * (int64_t)k,
                            0);
        test_branch(&b, p, 0, 71);
        test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_FIXED, 0, 4 * (int64_t)missing, 0);
        for (k = 0; k < 70; k++) {
            test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_FIXED, 0, 4 * (int64_t)k, 0);
            test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_SHARED, o, GPUMP_ADDRESS_FIXED, 0, 4 * (int64_t)k, 0);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_THREAD, GPUMP_BOUNDARY_SPARSE, list, 2, &count),
                         GPUMP_OK);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].read, 71 + 2 * missing);
        assert_int_equal(list[0].write, 72 + 2 * missing);
        gpump_program_destroy(b.program);
    }
}

/* A thread that never ends: from the write, both blocks of the program are in front of it, and the one that wrote is
 * itself among them. What the first block has read, the second overwrites. */
static void every_block_in_front(void **state) {
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), o = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    gpump_clobber list[2];
    uint32_t count = 0;
    (void)state;
    test_access(&b, 1, 0, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_access(&b, 2, 0, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_branch(&b, GPUMP_NONE, 0, 1);
    assert_int_equal(test_finish(&b), GPUMP_OK);
    assert_int_equal(gpump_program_count(b.program).basic_blocks, 2);
    for (uint32_t unit = GPUMP_UNIT_THREAD; unit <= GPUMP_UNIT_WARP; unit++) {
        assert_int_equal(gpump_clobbers_find(b.program, unit, GPUMP_BOUNDARY_SPARSE, list, 2, &count), GPUMP_OK);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].read, 0);
        assert_int_equal(list[0].write, 1);
    }
    gpump_program_destroy(b.program);
}

/* The first instruction of a program is a write like any other, and the last one a way back to it: behind a branch that
 * may fall through, or as the only block of a thread that never ends. */
static void the_first_instruction_overwrites_what_a_loop_has_read(void **state) {
    (void)state;
    for (uint32_t endless = 0; endless < 2; endless++) {
        test_builder b = test_build(NULL);
        const uint32_t x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE),
                       o = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_COMPUTE);
        const uint32_t uses[2] = {x, x};
        gpump_clobber list[2];
        in.uses = uses;
        in.use_count = 2;
        in.access = GPUMP_ACCESS_WRITE;
        in.object = o;
        in.address = GPUMP_ADDRESS_FIXED;
        in.bytes = 4;
        in.guard = p; /* it does not surely write what is read */
        test_add(&b, &in);
        test_access(&b, GPUMP_ACCESS_READ, 1, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
        test_branch(&b, endless ? GPUMP_NONE : p, 0, 0);
        if (!endless) test_exit(&b, GPUMP_NONE);
        assert_int_equal(test_finish(&b), GPUMP_OK);
        for (uint32_t unit = GPUMP_UNIT_THREAD; unit <= GPUMP_UNIT_WARP; unit++) {
            uint32_t count = 0;
            assert_int_equal(gpump_clobbers_find(b.program, unit, GPUMP_BOUNDARY_SPARSE, list, 2, &count), GPUMP_OK);
            assert_int_equal(count, 1);
            assert_int_equal(list[0].read, 1);
            assert_int_equal(list[0].write, 0);
        }
        gpump_program_destroy(b.program);
    }
}

/* Only the last block of the program leads to the read: what the thread has written at first is its own there, too, and
 * may be overwritten. */
static void the_last_block_leads_back_to_a_read_of_an_own_value(void **state) {
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), o = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    gpump_clobber list[2];
    uint8_t marks[6];
    uint32_t count = 77;
    (void)state;
    test_access(&b, GPUMP_ACCESS_WRITE, 1, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_branch(&b, GPUMP_NONE, 0, 5);
    test_access(&b, GPUMP_ACCESS_READ, 1, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0,
                0); /* 2 */
    test_access(&b, GPUMP_ACCESS_WRITE, 1, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    test_exit(&b, GPUMP_NONE);
    test_branch(&b, GPUMP_NONE, 0, 2); /* 5 */
    assert_int_equal(test_finish(&b), GPUMP_OK);
    for (uint32_t unit = GPUMP_UNIT_THREAD; unit <= GPUMP_UNIT_WARP; unit++) {
        assert_int_equal(gpump_clobbers_find(b.program, unit, GPUMP_BOUNDARY_SPARSE, list, 2, &count), GPUMP_OK);
        assert_int_equal(count, 0);
    }
    assert_int_equal(gpump_clobbers_block(b.program, marks, &count), GPUMP_OK);
    assert_int_equal(count, 0);
    gpump_program_destroy(b.program);
}

/* A write right behind the first of 80 barriers is behind what was read before it, however many instructions are
 * barriers. */
static void each_barrier_leads_to_the_next_part(void **state) {
    test_builder b = test_build(NULL);
    const uint32_t x = test_register(&b, GPUMP_WIDTH_32), o = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE);
    uint8_t marks[90];
    uint32_t count = 0;
    (void)state;
    test_access(&b, GPUMP_ACCESS_READ, 1, x, x, GPUMP_NONE, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
    for (uint32_t i = 0; i < 80; i++) {
        const gpump_instruction barrier = gpump_instruction_make(GPUMP_OP_BARRIER);
        test_add(&b, &barrier);
        if (!i)
            test_access(&b, GPUMP_ACCESS_WRITE, 1, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0,
                        0);
    }
    test_exit(&b, GPUMP_NONE);
    assert_int_equal(test_finish(&b), GPUMP_OK);
    assert_int_equal(gpump_clobbers_block(b.program, marks, &count), GPUMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(marks[2], 1);
    gpump_program_destroy(b.program);
}

/* A load of four bytes of the spill area and a store behind it meet when they share a byte: 3 bytes apart, not 4. */
static void spills_meet_by_bytes(void **state) {
    (void)state;
    for (int64_t apart = -5; apart <= 5; apart++) {
        test_builder b = test_build(NULL);
        const uint32_t x = test_register(&b, GPUMP_WIDTH_32);
        gpump_clobber list[2];
        uint32_t count = 77;
        for (uint32_t store = 0; store < 2; store++) {
            gpump_instruction in = gpump_instruction_make(store ? GPUMP_OP_SPILL_STORE : GPUMP_OP_SPILL_LOAD);
            in.defs = in.uses = &x;
            in.def_count = !store;
            in.use_count = store;
            in.immediate = store ? 8 + apart : 8;
            test_add(&b, &in);
        }
        test_exit(&b, GPUMP_NONE);
        assert_int_equal(test_finish(&b), GPUMP_OK);
        assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, list, 2, &count),
                         GPUMP_OK);
        assert_int_equal(count, apart > -4 && apart < 4);
        gpump_program_destroy(b.program);
    }
}

/* Where an access goes, as test_access takes it; has_object: to the object of the program. */
typedef struct access_place {
    uint32_t space, has_object, address, value;
    int64_t offset;
    uint32_t stride;
} access_place;

/* Adds an access to object `o`. */
static void access_at(test_builder *b, uint32_t access, uint32_t x, uint32_t o, const access_place *to) {
    const int reads = access == GPUMP_ACCESS_READ;
    test_access(b, access, 1, reads ? x : GPUMP_NONE, x, reads ? GPUMP_NONE : x, to->space,
                to->has_object ? o : GPUMP_NONE, to->address, to->value, to->offset, to->stride);
}

/* Checks that a write meets the second of two reads and never the first, each of them alone and both in either order.
 */
static void check_write_meets_second(const access_place reads[2], const access_place *write, uint32_t object_space) {
    for (uint32_t kinds = 1; kinds < 4; kinds++) /* bits: the first read, the second one */
        for (uint32_t swapped = 0; swapped < 2; swapped++) {
            test_builder b = test_build(NULL);
            const uint32_t x = test_register(&b, GPUMP_WIDTH_32), o = test_object(&b, object_space, GPUMP_NONE);
            uint8_t marks[8];
            uint32_t count = 0;
            for (uint32_t k = 0; k < 2; k++)
                if (kinds >> (k ^ swapped) & 1u) access_at(&b, GPUMP_ACCESS_READ, x, o, &reads[k ^ swapped]);
            access_at(&b, GPUMP_ACCESS_WRITE, x, o, write);
            test_exit(&b, GPUMP_NONE);
            assert_int_equal(test_finish(&b), GPUMP_OK);
            assert_int_equal(gpump_clobbers_block(b.program, marks, &count), GPUMP_OK);
            assert_int_equal(count, kinds >> 1);
            gpump_program_destroy(b.program);
        }
}

/* Reads of no known object differ by their space: a write to shared memory overwrites what a generic read may have
 * seen, and nothing that a read of global memory has. */
static void reads_of_two_spaces_are_told_apart(void **state) {
    static const access_place reads[2] = {{GPUMP_SPACE_GLOBAL, 0, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0},
                                          {GPUMP_SPACE_GENERIC, 0, GPUMP_ADDRESS_ANYWHERE, 0, 0, 0}},
                              write = {GPUMP_SPACE_GENERIC, 1, GPUMP_ADDRESS_FIXED, 0, 0, 0};
    (void)state;
    check_write_meets_second(reads, &write, GPUMP_SPACE_SHARED);
}

/* Reads of one object at two values are told apart, whichever comes first: a write eight bytes behind one of them meets
 * that one never, and may meet the other. */
static void reads_at_two_values_are_told_apart(void **state) {
    static const access_place reads[2] = {{GPUMP_SPACE_GLOBAL, 1, GPUMP_ADDRESS_VALUE, 1, 0, 16},
                                          {GPUMP_SPACE_GLOBAL, 1, GPUMP_ADDRESS_VALUE, 2, 0, 16}},
                              write = {GPUMP_SPACE_GLOBAL, 1, GPUMP_ADDRESS_VALUE, 1, 8, 16};
    (void)state;
    check_write_meets_second(reads, &write, GPUMP_SPACE_GLOBAL);
}

/* Of 200 registers that live into a region each may be the one that is read in one block and overwritten in the next.
 */
static void any_of_many_live_ins_is_followed_from_block_to_block(void **state) {
    enum { MANY = 200 };
    (void)state;
    for (uint32_t which = 0; which < MANY; which += 33) {
        test_builder b = test_build(NULL);
        gpump_instruction in = gpump_instruction_make(GPUMP_OP_BOUNDARY);
        gpump_clobber list[2];
        uint32_t count = 0, r;
        for (r = 0; r < MANY; r++) test_register(&b, GPUMP_WIDTH_32);
        test_register(&b, GPUMP_WIDTH_PREDICATE);
        for (r = 0; r < MANY; r++) test_constant(&b, r, 5);
        test_op(&b, 1, MANY, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_add(&b, &in);                                         /* 201 */
        test_op(&b, 2, GPUMP_NONE, which, GPUMP_NONE, GPUMP_NONE); /* 202 */
        test_branch(&b, MANY, 0, 205);                             /* 203 */
        test_op(&b, 3, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_constant(&b, which, 6); /* 205 */
        for (r = 0; r < MANY; r++) test_op(&b, 1, GPUMP_NONE, r, GPUMP_NONE, GPUMP_NONE);
        test_exit(&b, GPUMP_NONE);
        assert_int_equal(test_finish(&b), GPUMP_OK);
        assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, list, 2, &count),
                         GPUMP_OK);
        assert_int_equal(count, 1);
        assert_int_equal(list[0].start, 201);
        assert_int_equal(list[0].write, 205);
        assert_int_equal(list[0].reg, which);
        gpump_program_destroy(b.program);
    }
}

/* Of 200 live-ins, what one side of a branch reads was not read on the other side, which overwrites it. */
static void what_one_side_reads_the_other_may_overwrite(void **state) {
    enum { MANY = 200 };
    (void)state;
    for (uint32_t taken = 0; taken < 2; taken++) { /* the side that reads */
        test_builder b = test_build(NULL);
        const gpump_instruction boundary = gpump_instruction_make(GPUMP_OP_BOUNDARY);
        gpump_clobber list[2];
        uint32_t count = 77, r;
        for (r = 0; r < MANY; r++) test_register(&b, GPUMP_WIDTH_32);
        test_register(&b, GPUMP_WIDTH_PREDICATE);
        for (r = 0; r < MANY; r++) test_constant(&b, r, 5);
        test_op(&b, 1, MANY, GPUMP_NONE, GPUMP_NONE, GPUMP_NONE);
        test_add(&b, &boundary);                            /* 201 */
        test_branch(&b, MANY, 0, 204 + (taken ? 1 : MANY)); /* 202 */
        for (uint32_t side = 0; side < 2; side++) {
            if (side == taken)
                for (r = 0; r < MANY; r++) test_op(&b, 1, GPUMP_NONE, r, GPUMP_NONE, GPUMP_NONE);
            else
                test_constant(&b, MANY - 1, 6);
            test_exit(&b, GPUMP_NONE);
        }
        assert_int_equal(test_finish(&b), GPUMP_OK);
        assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, list, 2, &count),
                         GPUMP_OK);
        assert_int_equal(count, 0);
        gpump_program_destroy(b.program);
    }
}

/* More than 64 registers live into a region, of which the last is overwritten; and two places of local memory. */
static void many_live_ins(void **state) {
    test_builder b = test_build(NULL);
    uint32_t r, count = 0;
    gpump_clobber list[2];
    gpump_instruction in = gpump_instruction_make(GPUMP_OP_BOUNDARY);
    (void)state;
    for (r = 0; r < 400; r++) test_register(&b, GPUMP_WIDTH_32);
    for (r = 0; r < 400; r++) test_constant(&b, r, 5);
    test_add(&b, &in); /* 400 */
    for (r = 0; r < 400; r++) test_op(&b, 1, GPUMP_NONE, r, GPUMP_NONE, GPUMP_NONE);
    test_constant(&b, 399, 6); /* 801 */
    test_exit(&b, GPUMP_NONE);
    test_finish(&b);
    assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, list, 2, &count), GPUMP_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].start, 400);
    assert_int_equal(list[0].write, 801);
    assert_int_equal(list[0].reg, 399);
    gpump_program_destroy(b.program);
    for (uint32_t same = 0; same < 2; same++) {
        const uint32_t x = 0;
        b = test_build(NULL);
        test_register(&b, GPUMP_WIDTH_32);
        for (r = 0; r < 3; r++) { /* stored, loaded, stored: what was loaded is its own, or it is not */
            in = gpump_instruction_make(r == 1 ? GPUMP_OP_SPILL_LOAD : GPUMP_OP_SPILL_STORE);
            in.defs = in.uses = &x;
            in.def_count = r == 1;
            in.use_count = r != 1;
            in.immediate = r || same ? 8 : 0;
            test_add(&b, &in);
        }
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        count = 77;
        assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_WARP, GPUMP_BOUNDARY_SPARSE, list, 2, &count),
                         GPUMP_OK);
        assert_int_equal(count, !same);
        gpump_program_destroy(b.program);
    }
}

/* A check of an address touches no memory: a write behind it overwrites nothing that was read. */
static void a_check_reads_nothing(void **state) {
    (void)state;
    for (uint32_t is_check = 0; is_check < 2; is_check++) {
        test_builder b = test_build(NULL);
        const uint32_t x = test_register(&b, GPUMP_WIDTH_32), p = test_register(&b, GPUMP_WIDTH_PREDICATE),
                       o = test_object(&b, GPUMP_SPACE_GLOBAL, GPUMP_NONE), uses[2] = {x, p};
        gpump_instruction in = gpump_instruction_make(is_check ? GPUMP_OP_CHECK : GPUMP_OP_COMPUTE);
        gpump_clobber list[4];
        uint8_t clobbers[8];
        uint32_t count;
        in.defs = &p;
        in.def_count = 1;
        in.uses = uses;
        in.use_count = 2;
        in.access = GPUMP_ACCESS_READ;
        in.object = o;
        in.address = GPUMP_ADDRESS_FIXED;
        in.bytes = 4;
        test_add(&b, &in);
        test_access(&b, GPUMP_ACCESS_WRITE, 1, GPUMP_NONE, x, x, GPUMP_SPACE_GLOBAL, o, GPUMP_ADDRESS_FIXED, 0, 0, 0);
        test_exit(&b, GPUMP_NONE);
        test_finish(&b);
        assert_int_equal(gpump_clobbers_find(b.program, GPUMP_UNIT_THREAD, GPUMP_BOUNDARY_SPARSE, list, 4, &count),
                         GPUMP_OK);
        assert_int_equal(count, !is_check);
        assert_int_equal(gpump_clobbers_block(b.program, clobbers, &count), GPUMP_OK);
        assert_int_equal(count, !is_check);
        gpump_program_destroy(b.program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_check_reads_nothing),
                                       cmocka_unit_test(lists_are_the_definition),
                                       cmocka_unit_test(marks_are_the_definition),
                                       cmocka_unit_test(the_first_instruction_overwrites_what_a_loop_has_read),
                                       cmocka_unit_test(the_last_block_leads_back_to_a_read_of_an_own_value),
                                       cmocka_unit_test(each_barrier_leads_to_the_next_part),
                                       cmocka_unit_test(spills_meet_by_bytes),
                                       cmocka_unit_test(reads_of_two_spaces_are_told_apart),
                                       cmocka_unit_test(reads_at_two_values_are_told_apart),
                                       cmocka_unit_test(any_of_many_live_ins_is_followed_from_block_to_block),
                                       cmocka_unit_test(what_one_side_reads_the_other_may_overwrite),
                                       cmocka_unit_test(many_places),
                                       cmocka_unit_test(many_live_ins),
                                       cmocka_unit_test(every_block_in_front)};
    return cmocka_run_group_tests(tests, NULL, test_nothing_leaks);
}
