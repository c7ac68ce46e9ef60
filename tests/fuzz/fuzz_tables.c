/* link: bench_frame tbsim_core options */
/* A libFuzzer target for what is read line by line: the first byte of an input chooses one of the tables of bench/data,
 * Table 5.2, the parts that `tbsim merge` puts together, and a table of `tbsim machines`. tests/fuzz/fuzz.sh runs it;
 * tests/fuzz/replay_tables.c replays its corpus. */
#include "fuzz/fuzz_input.h"
#include "csv.h"
#include "csv_merge.h"
#include "../../examples/tbsim/machines.c"
#include "../../examples/tbsim/library.c"

/* Merges an input as parts, a 0 byte between two of them: headers, shards and rows that do not fit each other. */
static void merge_parts(const uint8_t *data, size_t size, const char *out) {
    enum { PARTS = 3 };
    char *parts[PARTS], name[16];
    uint32_t count = 0, i;
    while (count < PARTS && size) {
        const uint8_t *end = (const uint8_t *)memchr(data, 0, size);
        const size_t length = end ? (size_t)(end - data) : size;
        snprintf(name, sizeof name, "part%u", count);
        parts[count] = strdup(fuzz_write(name, data, length));
        if (!parts[count]) break;
        count++;
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
    (void)remove(out);
    (void)csv_merge("tbsim", "workload", out, parts, (int)count);
    for (i = 0; i < count; i++) free(parts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static table_row rows[64];
    static double gain[MACHINES][SCHEMES];
    char error[300] = "", out[600];
    csv_table table;
    uint32_t workloads = 0;
    const char *path;
    fuzz_make_folder();
    if (!size) return 0;
    path = fuzz_write("table", data + 1, size - 1);
    switch (data[0] & 3) {
    case 0:
        if (!csv_read(&table, path, error, sizeof error)) {
            if (!*error) abort();
            break;
        }
        for (size_t row = 0; row < table.rows; row++) {
            double number;
            for (size_t column = 0; column < table.columns; column++)
                if (!csv_number(&table, row, table.names[column], &number)) (void)csv_text(&table, row, "id");
        }
        csv_free(&table);
        break;
    case 1:
        if (read_table(path, rows, 64, error, sizeof error) < 0 && !*error) abort();
        break;
    case 2:
        snprintf(out, sizeof out, "%s/merged", fuzz_folder);
        merge_parts(data + 1, size - 1, out);
        break;
    default: (void)read_gains(path, gain, &workloads); break;
    }
    return 0;
}
