#include "reproduce.h"
#include "headlines.h"
#include "parts.h"
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpump_once.h"

/* ---- called by row functions ---- */
static void append(char *text, size_t bytes, const char *separator, const char *format, va_list arguments) {
    size_t length = strlen(text);
    if (length && length < bytes) length += (size_t)snprintf(text + length, bytes - length, "%s", separator);
    if (length < bytes) vsnprintf(text + length, bytes - length, format, arguments);
}
static void append_ours(reproduce_result *result, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(result->ours, sizeof result->ours, "; ", format, arguments);
    va_end(arguments);
}
static void add_number(reproduce_result *result, double value) {
    if (result->count < REPRODUCE_NUMBERS)
        result->numbers[result->count++] = value;
    else
        result->failed = 1;
}
void reproduce_number(reproduce_result *result, double value, int digits) {
    add_number(result, value);
    append_ours(result, "%.*f", digits, value);
}
void reproduce_samples(reproduce_result *result, const double *values, size_t count, int digits) {
    double sum = 0, lowest = HUGE_VAL, highest = -HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        if (values[i] < lowest) lowest = values[i];
        if (values[i] > highest) highest = values[i];
    }
    if (count == 0) {
        reproduce_failed(result, "no samples");
        return;
    }
    add_number(result, sum / (double)count);
    append_ours(result, "%.*f (%.*f to %.*f of %lu)", digits, sum / (double)count, digits, lowest, digits, highest,
                (unsigned long)count);
}
void reproduce_holds(reproduce_result *result, int holds, const char *format, ...) {
    va_list arguments;
    result->holds = (result->said ? result->holds : 1) && holds;
    result->said = 1;
    va_start(arguments, format);
    append(result->ours, sizeof result->ours, "; ", format, arguments);
    va_end(arguments);
}
void reproduce_note(reproduce_result *result, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(result->note, sizeof result->note, "; ", format, arguments);
    va_end(arguments);
}
void reproduce_reading(reproduce_result *result, double value, int digits, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (result->reading_count < REPRODUCE_NUMBERS)
        result->readings[result->reading_count++] = value;
    else
        result->failed = 1;
    reproduce_note(result, "second reading %.*f: %s", digits, value, text);
}
void reproduce_interval(reproduce_result *result, double low, double high, int digits) {
    result->interval[0] = low;
    result->interval[1] = high;
    reproduce_note(result, "95%% interval %.*f to %.*f", digits, low, digits, high);
}

void reproduce_resampled(reproduce_result *result, double share) {
    if (share > result->reversed) result->reversed = share;
}

double reproduce_share_reversed(double larger, double larger_half, double smaller, double smaller_half) {
    const double half = sqrt(larger_half * larger_half + smaller_half * smaller_half);
    if (half <= 0) return larger <= smaller;
    return 0.5 * erfc((larger - smaller) / half * 1.96 / sqrt(2));
}

void reproduce_revised(reproduce_result *result) { result->revised = 1; }
void reproduce_elsewhere(reproduce_result *result) { result->elsewhere = 1; }
void reproduce_failed(reproduce_result *result, const char *format, ...) {
    va_list arguments;
    result->failed = 1;
    va_start(arguments, format);
    append(result->note, sizeof result->note, "; ", format, arguments);
    va_end(arguments);
}

void reproduce_point(reproduce_result *result, const char *id, double value) {
    silicon_point *grown = (silicon_point *)realloc(result->points, (result->point_count + 1) * sizeof *grown);
    if (!grown) {
        reproduce_failed(result, "out of memory");
        return;
    }
    result->points = grown;
    snprintf(grown[result->point_count].id, sizeof grown->id, "%s", id);
    grown[result->point_count++].value = value;
}
double reproduce_fitted(const reproduce_context *context, const char *id) {
    const csv_table *table = context->silicon;
    size_t row = table ? silicon_row(table, id) : 0;
    double value;
    if (!table || row == table->rows || strcmp(csv_text(table, row, "use"), "fit") != 0 ||
        !csv_number(table, row, "value", &value))
        return NAN;
    return value;
}

/* Conditions of --set. */
enum { CONDITIONS = 16 };
typedef struct reproduce_condition_set {
    struct {
        char name[48];
        double value;
        int asked; /* a row has this condition */
    } all[CONDITIONS];
    size_t count;
} reproduce_condition_set;

double reproduce_condition(const reproduce_context *context, reproduce_result *result, const char *name, double usual) {
    for (size_t i = 0; context->set && i < context->set->count; i++) {
        char text[100];
        if (strcmp(context->set->all[i].name, name) != 0) continue;
        snprintf(text, sizeof text, "%s = %g instead of %g", name, context->set->all[i].value, usual);
        if (!context->set->all[i].asked || !strstr(result->note, text)) reproduce_note(result, "%s", text);
        context->set->all[i].asked = 1;
        return context->set->all[i].value;
    }
    return usual;
}

/* ---- the verdict ---- */
enum kind { EXACT, BAND, ORDER, DERIVED, SERIES, KINDS };
static const char *const kind_names[KINDS] = {"exact", "band", "order", "derived", "series"};

static enum kind kind_of(const csv_table *targets, size_t row) {
    const char *text = csv_text(targets, row, "kind");
    int kind = 0;
    while (kind < KINDS && strcmp(text, kind_names[kind]) != 0) kind++;
    return (enum kind)kind;
}

/* Judges a series by the measured rows, and says what was found. */
static int series_agrees(const csv_table *silicon, const char *id, reproduce_result *result) {
    silicon_verdict verdict;
    if (!silicon) {
        reproduce_failed(result, "silicon.csv cannot be read");
        return 0;
    }
    verdict = silicon_judge(silicon, id, result->points, result->point_count);
    append_ours(result, "%u of %u inside", verdict.inside, verdict.rows);
    if (verdict.missing) append_ours(result, "%u without a value", verdict.missing);
    if (verdict.missing < verdict.rows) append_ours(result, "median error %.1f %%", verdict.median_percent);
    if (verdict.farthest > 1)
        reproduce_note(result, "farthest outside: %s, by a factor of %.2f", verdict.farthest_id, verdict.farthest);
    return verdict.ok;
}

/* Returns 1 when the measurement agrees with the row, else 0 after adding the reason to the note. */
static int agrees(const csv_table *silicon, const csv_table *targets, size_t row, reproduce_result *result) {
    enum kind kind = kind_of(targets, row);
    double paper = 0, low = 0, high = 0;
    int is_number = csv_number(targets, row, "paper", &paper), good = 1;
    if (kind == DERIVED) return 1;
    if (result->failed) return 0;
    if (kind == SERIES) return series_agrees(silicon, csv_text(targets, row, "id"), result);
    if (kind == BAND) {
        (void)csv_number(targets, row, "low", &low);
        (void)csv_number(targets, row, "high", &high);
        if (!result->count) reproduce_note(result, "no number was measured"), good = 0;
        for (unsigned i = 0; i < result->count; i++) {
            double value = result->numbers[i];
            if (value >= low && value <= high) continue;
            reproduce_note(result, "%.4g is not in %.6g to %.6g", value, low, high);
            good = 0;
        }
    } else if (kind == EXACT && is_number && !result->said) {
        if (!result->count) reproduce_note(result, "no number was measured"), good = 0;
        for (unsigned i = 0; i < result->count; i++)
            good = good && fabs(result->numbers[i] - paper) <= 1e-9 * fabs(paper);
    } else if (!result->said) {
        reproduce_note(result, "the row needs reproduce_holds"), good = 0;
    }
    return good && (!result->said || result->holds);
}

/* Returns 1 when a row that agrees would not where chance had fallen otherwise. */
static int is_on_edge(const csv_table *targets, size_t row, reproduce_result *result) {
    double low = 0, high = 0;
    if (kind_of(targets, row) == ORDER && result->reversed > 0.05) {
        reproduce_note(result, "the relation fails in %.0f%% of resamplings", 100 * result->reversed);
        return 1;
    }
    return kind_of(targets, row) == BAND && (result->interval[0] != 0 || result->interval[1] != 0) &&
           csv_number(targets, row, "low", &low) && csv_number(targets, row, "high", &high) &&
           (result->interval[0] < low || result->interval[1] > high);
}

/* Returns 1 when a second reading of a row with a band lies in the band. */
static int reading_agrees(const csv_table *targets, size_t row, const reproduce_result *result) {
    double low = 0, high = 0;
    if (result->failed || kind_of(targets, row) != BAND || !csv_number(targets, row, "low", &low) ||
        !csv_number(targets, row, "high", &high))
        return 0;
    for (unsigned i = 0; i < result->reading_count; i++)
        if (result->readings[i] >= low && result->readings[i] <= high) return 1;
    return 0;
}

/* ---- the program ---- */
enum format { TABLE, CSV, MARKDOWN };
typedef struct options {
    enum format format;
    int list, headlines;
    const char *only[32];
    size_t only_count;
    char targets[1024], added[1024], minutes[1024], silicon[1024];
    reproduce_condition_set set;
    FILE *points;         /* --points */
    const char *pictures; /* --pictures */
    reproduce_context context;
    reproduce_parts parts;
} options;

static void usage(FILE *file) {
    fputs("usage: reproduce [--only ID-PREFIX]... [--short] [--csv | --markdown] [--list] [--data DIR] [--shard I/N]\n"
          "       reproduce --merge [the same options] PAGE...\n"
          "       reproduce --headlines [PAGE...]\n"
          "Prints the published results of data/targets.csv, ours beside them, and the verdict.\n"
          "  --only ID-PREFIX  only rows whose id begins so; may be repeated\n"
          "  --short           fewer samples\n"
          "  --requests N      of each kernel of the rows S.*, whose notes say how many\n"
          "  --csv             id,paper,ours,unit,kind,verdict\n"
          "  --markdown        the page docs/results.md\n"
          "  --list            says what each row is and measures nothing\n"
          "  --data DIR        where targets.csv and the papers' tables are\n"
          "  --points FILE     writes measured and simulated values of the series (rows M.*) as CSV\n"
          "  --pictures DIR    draws each measured series, as DIR/ID.svg\n"
          "  --set NAME=VALUE  another value of a condition of rows M.*, whose names docs/silicon.md has; may be "
          "repeated\n"
          "  --shard I/N       only part I of N, 0 <= I < N, of what is to be measured; prints a page for --merge\n"
          "  --merge PAGE...   measures nothing: the rows of these pages, where a later page replaces an earlier one; "
          "rows that\n"
          "                    were measured in pieces are computed when all pieces are there\n"
          "  --headlines       only the first page of --merge --markdown; without a PAGE that of docs/results.md\n"
          "Exit status: 0; 1 when an exact row is wrong; 2 usage.\n",
          file);
}

static int is_wanted(const options *options, const char *id) {
    if (!options->only_count) return 1;
    for (size_t i = 0; i < options->only_count; i++)
        if (strncmp(id, options->only[i], strlen(options->only[i])) == 0) return 1;
    return 0;
}

/* Reads the pages of --merge, and makes the paths of the tables. Returns -1 to continue, or an exit status. */
static int complete(options *options, int argc, char **argv) {
    if (options->headlines && optind == argc && parts_read(&options->parts, BENCH_RESULTS, 0)) return 2;
    if (options->parts.merges && (options->parts.shards || (optind == argc && !options->headlines))) {
        fputs("reproduce: --merge needs pages, and no --shard\n", stderr);
        return 2;
    }
    while (options->parts.merges && optind < argc)
        if (parts_read(&options->parts, argv[optind++], options->context.is_short)) return 2;
    if (optind < argc) {
        fprintf(stderr, "reproduce: unexpected argument '%s'\n", argv[optind]);
        usage(stderr);
        return 2;
    }
    if (strlen(options->context.data_dir) + sizeof "/targets.csv" > sizeof options->targets) {
        fputs("reproduce: the path given to --data is too long\n", stderr);
        return 2;
    }
    snprintf(options->targets, sizeof options->targets, "%s/targets.csv", options->context.data_dir);
    snprintf(options->added, sizeof options->added, "%s/added.csv", options->context.data_dir);
    snprintf(options->minutes, sizeof options->minutes, "%s/minutes.csv", options->context.data_dir);
    snprintf(options->silicon, sizeof options->silicon, "%s/silicon.csv", options->context.data_dir);
    return -1;
}

/* Opens the file of --points. Returns 1, or 0 after a message. */
static int open_points(options *options, const char *path) {
    if (options->points) fclose(options->points);
    if (!(options->points = fopen(path, "w"))) {
        fprintf(stderr, "reproduce: %s cannot be written\n", path);
        return 0;
    }
    fputs("id,use,unit,value,low,high,simulated\n", options->points);
    return 1;
}

static const struct option option_names[] = {{"only", required_argument, NULL, 'o'},
                                             {"short", no_argument, NULL, 's'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {"markdown", no_argument, NULL, 'm'},
                                             {"list", no_argument, NULL, 'l'},
                                             {"data", required_argument, NULL, 'd'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"shard", required_argument, NULL, 'p'},
                                             {"merge", no_argument, NULL, 'g'},
                                             {"headlines", no_argument, NULL, 't'},
                                             {"requests", required_argument, NULL, 'r'},
                                             {"points", required_argument, NULL, 'v'},
                                             {"pictures", required_argument, NULL, 'i'},
                                             {"set", required_argument, NULL, 'e'},
                                             {NULL, 0, NULL, 0}};

/* Reads the value of --requests. Returns 1, or 0 after a message. */
static int read_requests(options *options) {
    char extra;
    if (sscanf(optarg, "%u%c", &options->context.requests, &extra) == 1 && options->context.requests &&
        options->context.requests <= 10000)
        return 1;
    fprintf(stderr, "reproduce: --requests needs 1 to 10000, not '%s'\n", optarg);
    return 0;
}

/* Reads the value of --set. Returns 1, or 0 after a message. */
static int read_condition(options *options) {
    reproduce_condition_set *set = &options->set;
    char extra;
    if (set->count < CONDITIONS &&
        sscanf(optarg, "%47[a-z0-9_.]=%lf%c", set->all[set->count].name, &set->all[set->count].value, &extra) == 2 &&
        isfinite(set->all[set->count].value)) {
        set->all[set->count++].asked = 0;
        options->context.set = set;
        return 1;
    }
    fprintf(stderr, "reproduce: --set needs NAME=VALUE, at most %d times, not '%s'\n", CONDITIONS, optarg);
    return 0;
}

/* Returns 1 when a row had each condition of --set, or 0 after a message. */
static int are_conditions_known(const options *options) {
    int known = 1;
    for (size_t i = 0; i < options->set.count; i++) {
        if (options->set.all[i].asked) continue;
        fprintf(stderr, "reproduce: no measured row has the condition '%s'; docs/silicon.md lists them\n",
                options->set.all[i].name);
        known = 0;
    }
    return known;
}

/* Reads the value of --shard. Returns 1, or 0 after a message. */
static int read_shard(options *options) {
    char extra;
    options->format = MARKDOWN;
    if (sscanf(optarg, "%u/%u%c", &options->parts.shard, &options->parts.shards, &extra) == 2 &&
        options->parts.shard < options->parts.shards)
        return 1;
    fprintf(stderr, "reproduce: a shard is I/N with 0 <= I < N, not '%s'\n", optarg);
    return 0;
}

/* Returns -1 to continue, else the exit status. */
static int parse(options *options, int argc, char **argv) {
    int option;
    memset(options, 0, sizeof *options);
    options->context.data_dir = BENCH_DATA_DIR;
    options->context.parts = &options->parts;
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", option_names, NULL)) != -1) {
        switch (option) {
        case 'o':
            if (options->only_count == sizeof options->only / sizeof options->only[0]) {
                fputs("reproduce: --only was given too often\n", stderr);
                return 2;
            }
            options->only[options->only_count++] = optarg;
            break;
        case 's': options->context.is_short = 1; break;
        case 't': options->headlines = options->parts.merges = 1; /* fall through */
        case 'c':
        case 'm':
            if (options->format != TABLE && options->format != (option == 'c' ? CSV : MARKDOWN)) {
                fputs("reproduce: --csv and --markdown (which --shard and --headlines mean, too) go not together\n",
                      stderr);
                return 2;
            }
            options->format = option == 'c' ? CSV : MARKDOWN;
            break;
        case 'l': options->list = 1; break;
        case 'g': options->parts.merges = 1; break;
        case 'r':
            if (!read_requests(options)) return 2;
            break;
        case 'p':
            if (!read_shard(options)) return 2;
            break;
        case 'd': options->context.data_dir = optarg; break;
        case 'i':
            options->pictures = optarg;
            if (!access(optarg, W_OK | X_OK)) break;
            fprintf(stderr, "reproduce: --pictures %s: %s\n", optarg, strerror(errno));
            return 2;
        case 'v':
            if (!open_points(options, optarg)) return 2;
            break;
        case 'e':
            if (!read_condition(options)) return 2;
            break;
        case 'h': usage(stdout); return 0;
        default: usage(stderr); return 2;
        }
    }
    return complete(options, argc, argv);
}

/* Reads targets.csv, and appends the rows of added.csv if it exists. Returns 0 after a message. */
static int read_targets(const options *options, csv_table *targets) {
    csv_table added;
    char error[512];
    if (!csv_read(targets, options->targets, error, sizeof error)) {
        fprintf(stderr, "reproduce: %s\n", error);
        return 0;
    }
    if (access(options->added, R_OK)) return 1;
    if (!csv_read(&added, options->added, error, sizeof error)) {
        fprintf(stderr, "reproduce: %s\n", error);
    } else {
        if (csv_append(targets, &added)) return 1;
        fprintf(stderr, "reproduce: %s has not the columns of %s\n", options->added, options->targets);
        csv_free(&added);
    }
    csv_free(targets);
    return 0;
}

static int check_targets(const csv_table *targets, const char *path) {
    static const char *const columns[] = {"id", "source", "where", "what", "unit", "paper", "kind", "low", "high"};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        size_t i = 0;
        while (i < targets->columns && strcmp(targets->names[i], columns[c]) != 0) i++;
        if (i == targets->columns) {
            fprintf(stderr, "reproduce: %s has no column '%s'\n", path, columns[c]);
            return 0;
        }
    }
    for (size_t row = 0; row < targets->rows; row++) {
        const char *id = csv_text(targets, row, "id");
        double low, high;
        if (kind_of(targets, row) == KINDS) {
            fprintf(stderr, "reproduce: %s: %s is of unknown kind '%s'\n", path, id, csv_text(targets, row, "kind"));
            return 0;
        }
        if (kind_of(targets, row) == BAND &&
            !(csv_number(targets, row, "low", &low) && csv_number(targets, row, "high", &high) && low <= high)) {
            fprintf(stderr, "reproduce: %s: the band of %s is not two numbers\n", path, id);
            return 0;
        }
        for (size_t other = 0; other < row; other++)
            if (strcmp(id, csv_text(targets, other, "id")) == 0) {
                fprintf(stderr, "reproduce: %s names %s twice\n", path, id);
                return 0;
            }
    }
    return 1;
}

/* How a row is measured. */
typedef struct row_source {
    const reproduce_row *row; /* NULL: no function measures it */
    size_t topic;
    int divided;
    double minutes; /* processor time, approximately */
} row_source;

/* Sets found[row] for each row; refuses functions of unknown ids and second functions of one id. */
static int find_rows(const csv_table *targets, const reproduce_row *const *topics, row_source *found) {
    for (size_t topic = 0; topics[topic]; topic++) {
        int divided = 0;
        for (const reproduce_row *row = topics[topic]; row->id; row++) {
            size_t i = 0;
            if (!*row->id) {
                divided = 1;
                continue;
            }
            while (i < targets->rows && strcmp(csv_text(targets, i, "id"), row->id) != 0) i++;
            if (i == targets->rows || found[i].row) {
                fprintf(stderr, "reproduce: %s %s\n", row->id,
                        i == targets->rows ? "is not in targets.csv" : "has two functions");
                return 0;
            }
            found[i].row = row;
            found[i].topic = topic;
            found[i].divided = divided;
        }
    }
    return 1;
}

/* Returns 1 when this run calls the row's function: always for a divided row, else where its topic is measured here. */
static int is_asked(const reproduce_parts *parts, const row_source *source) {
    return source->row && (source->divided || (!parts->merges && parts_here(parts, source->topic)));
}

/* Sets the minutes of every row from minutes.csv. Where rows share an experiment, the row that runs it has the minutes.
 * Without the file, estimates of the remaining time are worse. Returns the sum. */
static double find_minutes(const options *options, const csv_table *targets, row_source *found) {
    csv_table minutes;
    char error[512];
    double sum = 0, value;
    if (!csv_read(&minutes, options->minutes, error, sizeof error)) memset(&minutes, 0, sizeof minutes);
    for (size_t row = 0; row < targets->rows; row++) {
        row_source *source = &found[row];
        const char *id = csv_text(targets, row, "id");
        if (!is_asked(&options->parts, source) || !is_wanted(options, id)) continue;
        source->minutes = 0.01;
        for (size_t i = 0; i < minutes.rows; i++)
            if (!strcmp(csv_text(&minutes, i, "id"), id) && csv_number(&minutes, i, "minutes", &value))
                source->minutes += source->divided && options->parts.shards ? value / options->parts.shards : value;
        sum += source->minutes;
    }
    if (minutes.text) csv_free(&minutes);
    return sum;
}

static void print_rules(const options *options) {
    const char *is_short = options->context.is_short ? " --short" : "";
    printf(
        "## How a row is judged\n\n"
        "- *exact*: must be equal. *order*: the relation must hold.\n"
        "- *band*: measured by simulation, must lie in the band of bench/data/targets.csv, which was fixed before the "
        "measurement.\n"
        "- *derived*: rests on a derivation of ours and cannot fail.\n"
        "- *series*: rows that real devices wrote, judged as [silicon.md](silicon.md) says.\n\n"
        "A row *outside* is shown with the reason found; nothing is tuned per row. *edge*: inside, but the 95%% "
        "interval leaves\nthe band, or the order fails in more than 5%% of resamplings. *reading*: inside under a "
        "second defensible reading of\nthe paper only, whose value stands in the note, or the row's text, or a number "
        "behind it, was chosen after a value was\nknown. *todo*: not measured. [papers/timing.md](papers/timing.md) "
        "says what moved from one timing model to the next.\n\nThis page is the output of\n\n"
        "    build/bench/reproduce --markdown%s > rows.md\n"
        "    build/bench/reproduce --merge --markdown%s rows.md > docs/results.md\n\n",
        is_short, is_short);
}

static void print_table_heading(const options *options) {
    switch (options->format) {
    case CSV: puts("id,paper,ours,unit,kind,verdict"); break;
    case TABLE: printf("%-22s %-8s %-8s %-20s %-24s %s\n", "id", "verdict", "kind", "paper", "ours", "unit"); break;
    case MARKDOWN:
        print_rules(options);
        puts("## All rows\n\n| id | where | what | unit | paper | ours | kind | verdict | note "
             "|\n|---|---|---|---|---|---|---|---|---|");
    }
}

static void print_heading(const options *options) {
    if (options->format == MARKDOWN)
        printf("# Results\n\nWhat the papers print and what gpump %d.%d.%d (timing model %d) gives.\n\n",
               GPUMP_VERSION_MAJOR, GPUMP_VERSION_MINOR, GPUMP_VERSION_PATCH, GPUMP_MODEL_VERSION);
}

static void print_cell(const char *text) {
    fputs(" ", stdout);
    for (; *text; text++) {
        if (*text == '|') fputc('\\', stdout);
        fputc(*text, stdout);
    }
    fputs(" |", stdout);
}

static void print_row(const options *options, const csv_table *targets, size_t row, const reproduce_result *result,
                      const char *verdict) {
    const char *id = csv_text(targets, row, "id"), *paper = csv_text(targets, row, "paper"),
               *unit = csv_text(targets, row, "unit");
    const char *kind = csv_text(targets, row, "kind");
    switch (options->format) {
    case CSV: {
        const char *const fields[] = {id, paper, result->ours, unit, kind, verdict};
        for (size_t i = 0; i < 6; i++) {
            csv_write(stdout, fields[i]);
            fputc(i < 5 ? ',' : '\n', stdout);
        }
        break;
    }
    case TABLE:
        printf("%-22s %-8s %-8s %-20s %-24s %s\n", id, verdict, kind, paper, *result->ours ? result->ours : "-", unit);
        if (*result->note) printf("    %s\n", result->note);
        break;
    case MARKDOWN: {
        char where[256];
        const char *const fields[] = {
            id, where, csv_text(targets, row, "what"), unit, paper, result->ours, kind, verdict, result->note};
        snprintf(where, sizeof where, "%s %s", csv_text(targets, row, "source"), csv_text(targets, row, "where"));
        fputs("|", stdout);
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) print_cell(fields[i]);
        fputs("\n", stdout);
    }
    }
    fflush(stdout);
}

/* Takes a row over from a page. Returns 0 when its target has changed since. */
static int take_over(const csv_table *targets, size_t row, const part_row *page, reproduce_result *result) {
    if (strcmp(page->cells[PARTS_PAPER], csv_text(targets, row, "paper")) != 0 ||
        strcmp(page->cells[PARTS_KIND], csv_text(targets, row, "kind")) != 0) {
        fprintf(stderr, "reproduce: %s was compared with another published value: measure it again, with --only %s\n",
                page->cells[PARTS_ID], page->cells[PARTS_ID]);
        return 0;
    }
    snprintf(result->ours, sizeof result->ours, "%s", page->cells[PARTS_OURS]);
    snprintf(result->note, sizeof result->note, "%s", page->cells[PARTS_NOTE]);
    if (page->model != GPUMP_MODEL_VERSION && strcmp(page->cells[PARTS_VERDICT], "todo") != 0 &&
        !strstr(result->note, "measured on timing model"))
        reproduce_note(result, "measured on timing model %d", page->model);
    return 1;
}

/* Writes the values of a series, and draws them, where the options ask for it. Returns 0 when a file cannot be
 * written. */
static int keep_points(const options *options, const char *id, const char *title, reproduce_result *result) {
    const csv_table *silicon = options->context.silicon;
    char path[1200];
    if (options->points && silicon) silicon_write(options->points, silicon, id, result->points, result->point_count);
    if (!options->pictures || !silicon) return 1;
    snprintf(path, sizeof path, "%s/%s.svg", options->pictures, id);
    if (!silicon_draw(path, silicon, id, title, result->points, result->point_count)) return 1;
    reproduce_failed(result, "%s cannot be written", path);
    return 0;
}

/* Measures a row and judges it. Returns its verdict; NULL: another run measures it. */
static const char *measure(const options *options, const csv_table *targets, size_t row, const row_source *source,
                           reproduce_result *result) {
    int agree;
    source->row->measure(&options->context, csv_text(targets, row, "id"), result);
    if (result->elsewhere) return NULL;
    agree = agrees(options->context.silicon, targets, row, result);
    if (kind_of(targets, row) == SERIES &&
        !keep_points(options, csv_text(targets, row, "id"), csv_text(targets, row, "what"), result))
        agree = 0;
    if (agree ? result->revised : reading_agrees(targets, row, result)) return "reading";
    if (agree && is_on_edge(targets, row, result)) return "edge";
    return agree ? "ok" : "outside";
}

/* NOT_MEASURED: no function measures the row, or no run has measured it yet; printed as todo. */
enum { OK, EDGE, READING, OUTSIDE, NOT_MEASURED, VERDICTS };
static const char *const verdicts[VERDICTS] = {"ok", "edge", "reading", "outside", "todo"};

/* A row that was measured or taken over. verdict: VERDICTS when it is not printed. */
typedef struct judged {
    reproduce_result result;
    unsigned verdict;
} judged;

/* Measures a row, or takes it over from a page. */
static void judge(options *options, const csv_table *targets, size_t row, const row_source *source, judged *j) {
    reproduce_parts *parts = &options->parts;
    const char *id = csv_text(targets, row, "id"), *verdict = NULL;
    const part_row *page = parts->merges ? parts_row(parts, id) : NULL;
    memset(j, 0, sizeof *j);
    j->verdict = VERDICTS;
    if (!is_wanted(options, id)) return;
    if (is_asked(parts, source)) {
        parts->minutes_here = source->minutes;
        reproduce_progress(&options->context, 0, id);
        verdict = measure(options, targets, row, source, &j->result);
        progress_end(&parts->shown);
        parts->minutes_before += source->minutes;
    }
    free(j->result.points);
    j->result.points = NULL;
    if (!verdict) {
        memset(&j->result, 0, sizeof j->result);
        if (parts->shards && source->row) return;
        verdict = page && take_over(targets, row, page, &j->result) ? page->cells[PARTS_VERDICT] : "todo";
    }
    for (j->verdict = 0; j->verdict < NOT_MEASURED && strcmp(verdict, verdicts[j->verdict]) != 0;) j->verdict++;
}

/* Judges all rows of merged pages first, because the page begins with a summary of them. Returns NULL when memory is
 * out. */
static judged *judge_all(options *options, const csv_table *targets, row_source *found) {
    judged *all = (judged *)calloc(targets->rows + 1, sizeof *all);
    for (size_t row = 0; all && row < targets->rows; row++) judge(options, targets, row, &found[row], &all[row]);
    return all;
}

/* Prints the first page. Returns 0, or -1 after a message. */
static int print_front(const options *options, const csv_table *targets, const judged *all) {
    headlines_row *rows = (headlines_row *)calloc(targets->rows + 1, sizeof *rows);
    int status = -1;
    for (size_t row = 0; rows && row < targets->rows; row++) {
        rows[row].ours = all[row].result.ours;
        rows[row].verdict = all[row].verdict;
    }
    if (rows) status = headlines_print(targets, rows, verdicts, VERDICTS, options->context.data_dir);
    free(rows);
    return status;
}

static int print_rows(options *options, const csv_table *targets, row_source *found, judged *all) {
    size_t rows = 0, counts[VERDICTS] = {0}, wrong = 0;
    print_table_heading(options);
    for (size_t row = 0; row < targets->rows; row++) {
        judged one, *j = all ? &all[row] : &one;
        if (!all) judge(options, targets, row, &found[row], j);
        if (j->verdict == VERDICTS) continue;
        rows++;
        counts[j->verdict]++;
        wrong += j->verdict == OUTSIDE && kind_of(targets, row) == EXACT;
        print_row(options, targets, row, &j->result, verdicts[j->verdict]);
        fflush(stdout); /* an interrupted run keeps its rows */
    }
    progress_unwatch(&options->parts.shown);
    if (options->format != CSV)
        printf("\n%lu rows: %lu ok, %lu edge, %lu reading, %lu outside, %lu todo%s\n", (unsigned long)rows,
               (unsigned long)counts[OK], (unsigned long)counts[EDGE], (unsigned long)counts[READING],
               (unsigned long)counts[OUTSIDE], (unsigned long)counts[NOT_MEASURED],
               options->context.is_short ? " (--short)" : "");
    if (wrong) fprintf(stderr, "reproduce: %lu exact rows are wrong\n", (unsigned long)wrong);
    return wrong != 0;
}

static int run(options *options, const csv_table *targets, row_source *found) {
    reproduce_parts *parts = &options->parts;
    judged *all = NULL;
    int status = 0;
    parts->minutes = find_minutes(options, targets, found);
    progress_begin(&parts->shown, "reproduce");
    parts->shown.expected = parts->minutes * 60;
    progress_watch(&parts->shown, "the rows printed so far are complete, and --shard splits the work");
    print_heading(options);
    if (parts->merges && options->format == MARKDOWN) {
        if (!(all = judge_all(options, targets, found))) {
            fputs("reproduce: out of memory\n", stderr);
            return 1;
        }
        status = print_front(options, targets, all) ? 2 : 0;
    }
    if (!status && !options->headlines) status = print_rows(options, targets, found, all);
    progress_unwatch(&parts->shown);
    free(all);
    return status;
}

int reproduce_main(int argc, char **argv, const reproduce_row *const *topics) {
    options options;
    csv_table targets, silicon;
    char error[1200];
    row_source *found;
    size_t wanted = 0;
    int status = parse(&options, argc, argv);
    if (status >= 0) {
        parts_free(&options.parts);
        return status;
    }
    if (!read_targets(&options, &targets)) {
        parts_free(&options.parts);
        return 2;
    }
    if (access(options.silicon, R_OK) || !csv_read(&silicon, options.silicon, error, sizeof error))
        memset(&silicon, 0, sizeof silicon);
    else
        options.context.silicon = &silicon;
    for (size_t row = 0; row < targets.rows; row++)
        wanted += (size_t)is_wanted(&options, csv_text(&targets, row, "id"));
    found = (row_source *)calloc(targets.rows + 1, sizeof *found);
    if (!found || !check_targets(&targets, options.targets) || !find_rows(&targets, topics, found)) {
        status = 2;
    } else if (!wanted && options.only_count) {
        fprintf(stderr, "reproduce: no id begins with '%s'; --list prints them all\n", options.only[0]);
        status = 2;
    } else if (options.list) {
        for (size_t row = 0; row < targets.rows; row++)
            if (is_wanted(&options, csv_text(&targets, row, "id")))
                printf("%-22s %-5s %s %s: %s\n", csv_text(&targets, row, "id"), found[row].row ? "" : "todo",
                       csv_text(&targets, row, "source"), csv_text(&targets, row, "where"),
                       csv_text(&targets, row, "what"));
        status = 0;
    } else {
        status = run(&options, &targets, found);
        if (!are_conditions_known(&options)) status = 2;
    }
    free(found);
    parts_free(&options.parts);
    csv_free(&targets);
    if (options.points && fclose(options.points)) status = 2;
    csv_free(&silicon);
    return status;
}
