/* The first page of docs/results.md. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include "headlines.h"

enum { PAPERS = 32, VERDICTS_MOST = 8 };

/* Prints the source's name with a capital. */
static void print_name(const char *source) { printf("%c%s", toupper((unsigned char)source[0]), source + 1); }

static void print_counts(const csv_table *targets, const headlines_row *rows, const char *const *verdicts,
                         unsigned verdict_count) {
    const char *sources[PAPERS];
    unsigned counts[PAPERS][VERDICTS_MOST] = {{0}}, sum[VERDICTS_MOST] = {0}, source_count = 0;
    for (size_t row = 0; row < targets->rows; row++) {
        unsigned s = 0;
        if (rows[row].verdict >= verdict_count) continue;
        while (s < source_count && strcmp(sources[s], csv_text(targets, row, "source"))) s++;
        if (s == PAPERS) continue;
        if (s == source_count) sources[source_count++] = csv_text(targets, row, "source");
        counts[s][rows[row].verdict]++;
        sum[rows[row].verdict]++;
    }
    printf("| source |");
    for (unsigned v = 0; v < verdict_count; v++) printf(" %s |", verdicts[v]);
    printf("\n|---|");
    for (unsigned v = 0; v < verdict_count; v++) printf("---|");
    for (unsigned s = 0; s <= source_count; s++) {
        printf("\n| ");
        if (s < source_count)
            print_name(sources[s]);
        else
            printf("all");
        printf(" |");
        for (unsigned v = 0; v < verdict_count; v++) printf(" %u |", s < source_count ? counts[s][v] : sum[v]);
    }
    printf("\n\n");
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
