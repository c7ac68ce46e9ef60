/* The first page of docs/results.md. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include "headlines.h"

/* Prints the source's name with a capital. */
static void print_name(const char *source) { printf("%c%s", toupper((unsigned char)source[0]), source + 1); }

/* Prints the number of rows with each verdict. source: of these rows; NULL: all. */
static void print_row(const csv_table *targets, const headlines_row *rows, unsigned verdict_count, const char *source) {
    printf("| ");
    if (source)
        print_name(source);
    else
        printf("all");
    printf(" |");
    for (unsigned v = 0; v < verdict_count; v++) {
        unsigned count = 0;
        for (size_t row = 0; row < targets->rows; row++)
            count += rows[row].verdict == v && (!source || !strcmp(csv_text(targets, row, "source"), source));
        printf(" %u |", count);
    }
    printf("\n");
}

/* Is a row of the page the first one of its source? */
static int is_first(const csv_table *targets, const headlines_row *rows, unsigned verdict_count, size_t row) {
    const char *source = csv_text(targets, row, "source");
    for (size_t before = 0; before < row; before++)
        if (rows[before].verdict < verdict_count && !strcmp(csv_text(targets, before, "source"), source)) return 0;
    return rows[row].verdict < verdict_count;
}

static void print_counts(const csv_table *targets, const headlines_row *rows, const char *const *verdicts,
                         unsigned verdict_count) {
    printf("| source |");
    for (unsigned v = 0; v < verdict_count; v++) printf(" %s |", verdicts[v]);
    printf("\n|---|");
    for (unsigned v = 0; v < verdict_count; v++) printf("---|");
    printf("\n");
    for (size_t row = 0; row < targets->rows; row++)
        if (is_first(targets, rows, verdict_count, row))
            print_row(targets, rows, verdict_count, csv_text(targets, row, "source"));
    print_row(targets, rows, verdict_count, NULL);
    printf("\n");
}

static void print_headline(const csv_table *targets, const headlines_row *rows, const char *const *verdicts, size_t row,
                           const char *sentence) {
    const char *unit = csv_text(targets, row, "unit");
    printf("| ");
    print_name(csv_text(targets, row, "source"));
    printf(" %s | %s (%s) | %s | %s | %s |\n", csv_text(targets, row, "where"), sentence, unit,
           csv_text(targets, row, "paper"), *rows[row].ours ? rows[row].ours : "-", verdicts[rows[row].verdict]);
}

/* Prints the table of headlines. Returns 0, or -1 after a message. */
static int print_headlines(const csv_table *targets, const headlines_row *rows, const char *const *verdicts,
                           unsigned verdict_count, const char *path) {
    csv_table headlines;
    char error[512];
    int status = 0;
    if (!csv_read(&headlines, path, error, sizeof error)) {
        fprintf(stderr, "reproduce: %s\n", error);
        return -1;
    }
    printf("| where | result | paper | ours | verdict |\n|---|---|---|---|---|\n");
    for (size_t h = 0; h < headlines.rows; h++) {
        const char *id = csv_text(&headlines, h, "id");
        size_t row = 0;
        while (row < targets->rows && strcmp(csv_text(targets, row, "id"), id)) row++;
        if (row == targets->rows) {
            fprintf(stderr, "reproduce: %s: %s is no row of targets.csv\n", path, id);
            status = -1;
        } else if (rows[row].verdict < verdict_count) {
            print_headline(targets, rows, verdicts, row, csv_text(&headlines, h, "sentence"));
        }
    }
    printf("\nRows by source and verdict:\n\n");
    csv_free(&headlines);
    return status;
}

int headlines_print(const csv_table *targets, const headlines_row *rows, const char *const *verdicts,
                    unsigned verdict_count, const char *data_dir) {
    char path[1100];
    int status = 0;
    snprintf(path, sizeof path, "%s/headlines.csv", data_dir);
    printf("## In one page\n\n");
    if (!access(path, R_OK)) status = print_headlines(targets, rows, verdicts, verdict_count, path);
    print_counts(targets, rows, verdicts, verdict_count);
    return status;
}
