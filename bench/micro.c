#include "micro.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "csv.h"
#include "policies.h"

#ifdef __has_include
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAS_CALLGRIND 1
#endif
#endif

enum { REPETITIONS = 9, REPETITIONS_SHORT = 3 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_run(uint64_t (*run)(void *, uint64_t), void *state, uint64_t operations, uint64_t *answer) {
    double start = seconds();
    *answer = run(state, operations);
    return seconds() - start;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

typedef struct options {
    const char *only;
    int is_short, csv, list, growth;
    uint64_t operations; /* not 0: execute so many, once, without timing */
    uint64_t size;       /* not 0: only this one */
} options;

/* Times one case at one size and prints its line. Returns 0 when an answer is wrong or memory is out. */
static int measure(const micro_case *one, uint64_t size, const options *options) {
    int repetitions = options->is_short ? REPETITIONS_SHORT : REPETITIONS;
    double enough = options->is_short ? 1e-3 : 2e-2, ours[REPETITIONS], rivals[REPETITIONS], ns, rival_ns = 0, taken;
    uint64_t operations = 1, answer, rival_answer;
    void *state = one->setup(size);
    if (!state) {
        fprintf(stderr, "micro: %s cannot be set up at size %llu\n", one->name, (unsigned long long)size);
        return 0;
    }
    while ((taken = time_run(one->run, state, operations, &answer)) < enough && operations < UINT64_C(1) << 40)
        operations = taken < enough / 16 ? operations * 8 : operations * 2;
    for (int i = 0; i < repetitions; i++) {
        ours[i] = time_run(one->run, state, operations, &answer);
        if (!one->run_rival) continue;
        rivals[i] = time_run(one->run_rival, state, operations, &rival_answer);
        if (answer != rival_answer) {
            fprintf(stderr, "micro: %s and %s disagree at size %llu\n", one->name, one->rival,
                    (unsigned long long)size);
            one->teardown(state);
            return 0;
        }
    }
    one->teardown(state);
    ns = median(ours, repetitions) * 1e9 / (double)operations;
    if (one->run_rival) rival_ns = median(rivals, repetitions) * 1e9 / (double)operations;
    if (options->csv) {
        printf("%s,%llu,%.4g,", one->name, (unsigned long long)size, ns);
        csv_write(stdout, one->rival ? one->rival : "");
        if (one->run_rival)
            printf(",%.4g,%.3f\n", rival_ns, rival_ns / ns);
        else
            puts(",,");
    } else {
        printf("%-28s %10llu %12.4g ns %12.4g ns", one->name, (unsigned long long)size, ns, ns / (double)size);
        if (one->run_rival) printf(" %12.4g ns  %7.2f x  %s", rival_ns, rival_ns / ns, one->rival);
        puts("");
    }
    fflush(stdout);
    return 1;
}

/* Does a number of operations at one size, for a tool that counts instructions (bench/instructions.sh). */
static int count_only(const micro_case *one, uint64_t size, uint64_t operations) {
    void *state = one->setup(size);
    if (!state) return 0;
    printf("%s: %llu\n", one->name, (unsigned long long)one->run(state, operations));
    one->teardown(state);
    return 1;
}

/* Is a size asked for? Without --size all are. */
static int wants_size(const options *options, uint64_t size) { return !options->size || options->size == size; }

#ifdef HAS_CALLGRIND
/* Returns the processor time of some operations in seconds. Unlike elapsed time it does not pass while other programs
 * have the processor. */
static double processor_time(const micro_case *one, void *state, uint64_t operations) {
    const clock_t begin = clock();
    (void)one->run(state, operations);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}
#endif

/* Does operations at one size under callgrind, which writes a file with their machine instructions and with their
 * description. *operations 0: as many as take some milliseconds of processor time, at most 4096. The first ones, which
 * may allocate, are not counted. Returns 0 when it cannot. */
static int count_size(const micro_case *one, uint64_t size, uint64_t *operations) {
#ifdef HAS_CALLGRIND
    enum { MOST = 4096 };
    char description[200];
    uint64_t some = *operations ? *operations : 1;
    void *state = one->setup(size);
    if (!state) return 0;
    while (processor_time(one, state, some) < 2e-3 && !*operations && some < MOST) some *= 2;
    *operations = some;
    snprintf(description, sizeof description, "%s,%llu,%llu", one->name, (unsigned long long)size,
             (unsigned long long)some);
    CALLGRIND_START_INSTRUMENTATION;
    (void)one->run(state, some);
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(description);
    one->teardown(state);
    return 1;
#else
    (void)one, (void)size, (void)operations;
    return 0;
#endif
}

/* A case of one size has no growth. --short counts the largest size up to SHORT_SIZE, or the second. */
static int is_counted(const micro_case *one, const uint64_t *size, const options *options) {
    enum { SHORT_SIZE = 4096 };
    if (*size < 2 || !one->sizes[1] || !wants_size(options, *size)) return 0;
    if (!options->is_short) return 1;
    if (size == one->sizes || (size[1] && size[1] <= SHORT_SIZE)) return 0;
    return *size <= SHORT_SIZE || size == one->sizes + 1;
}

/* Counts a case at its sizes and at half of each, with as many operations at both. Half of the smallest size may be too
 * small for the case. Returns 0 when another one cannot be set up. */
static int count_growth(const micro_case *one, const options *options) {
    for (const uint64_t *size = one->sizes; *size; size++) {
        uint64_t operations = 0;
        if (!is_counted(one, size, options)) continue;
        if (count_size(one, *size / 2 * 2, &operations) &&
            (count_size(one, *size / 2, &operations) || size == one->sizes))
            continue;
        fprintf(stderr, "micro: %s cannot be counted at size %llu or half of it\n", one->name,
                (unsigned long long)*size);
        return 0;
    }
    return 1;
}

uint32_t micro_subject;

/* Writes the case's name into `name`, with "{victim}" or "{scheduler}" replaced by the name of policy micro_subject.
 * Returns 0 when the case has no such (further) policy. */
static int name_case(const micro_case *one, char *name, size_t bytes) {
    static const char *const marks[2] = {"{victim}", "{scheduler}"};
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(one->name, marks[i]);
        const char *policy = i ? policies_scheduler_name(micro_subject) : policies_victim_name(micro_subject);
        if (!at) continue;
        if (!policy) return 0;
        snprintf(name, bytes, "%.*s%s%s", (int)(at - one->name), one->name, policy, at + strlen(marks[i]));
        return 1;
    }
    snprintf(name, bytes, "%s", one->name);
    return micro_subject == 0;
}

/* Lists or times one case. Returns 0 when an answer is wrong or memory is out. */
static int do_case(const micro_case *one, const options *options, int *any) {
    const uint64_t *size = one->sizes;
    int good = 1;
    if (options->only && strncmp(one->name, options->only, strlen(options->only)) != 0) return 1;
    while (*size && !wants_size(options, *size)) size++;
    if (!*size) return 1;
    if (options->list) {
        printf("%-28s %s%s%s\n", one->name, one->what, one->rival ? "; rival: " : "", one->rival ? one->rival : "");
        *any = 1;
        return 1;
    }
    if (options->growth) {
        *any = 1;
        return count_growth(one, options);
    }
    if (!*any && options->csv && !options->operations)
        puts("name,size,ns,rival,rival_ns,ratio");
    else if (!*any && !options->operations)
        printf("%-28s %10s %15s %15s %15s %10s\n", "name", "size", "ours", "ours / size", "rival", "ratio");
    *any = 1;
    if (options->operations) return count_only(one, *size, options->operations);
    for (; *size; size++)
        if (wants_size(options, *size)) good = measure(one, *size, options) && good;
    return good;
}

static void usage(FILE *file) {
    fputs(
        "usage: micro [--only NAME] [--size N] [--short] [--csv] [--list] [--operations N] [--growth]\n"
        "Times the components: nanoseconds per operation, the median of several repetitions; the ratio is rival over "
        "ours,\n"
        "above 1 where ours is faster. Ours over size shows growth: level where the cost is linear.\n"
        "  --only NAME  only cases whose name begins so\n"
        "  --size N     only this size; cases that do not have it are left out\n"
        "  --short      shorter and fewer repetitions\n"
        "  --csv        name,size,ns,rival,rival_ns,ratio\n"
        "  --list       says what one operation of each case is\n"
        "  --operations N  does N operations of each case at its smallest size (or --size) and times nothing, so that "
        "another\n"
        "               program can count instructions: bench/instructions.sh\n"
        "Exit status: 0; 1 when a rival gives another answer; 2 usage.\n",
        file);
}

/* Reads the number of an option. Returns 0, or -1 after a report. */
static int read_number(const char *option, const char *text, uint64_t *value) {
    char *end;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && *value) return 0;
    fprintf(stderr, "micro: %s needs a number from 1, not '%s'\n", option, text);
    return -1;
}

int micro_main(int argc, char **argv, const micro_case *const *topics) {
    static const struct option names[] = {{"only", required_argument, NULL, 'o'},
                                          {"short", no_argument, NULL, 's'},
                                          {"csv", no_argument, NULL, 'c'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"operations", required_argument, NULL, 'n'},
                                          {"size", required_argument, NULL, 'z'},
                                          {"growth", no_argument, NULL, 'g'},
                                          {NULL, 0, NULL, 0}};
    options options = {NULL, 0, 0, 0, 0, 0, 0};
    int option, good = 1, any = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        switch (option) {
        case 'o': options.only = optarg; break;
        case 's': options.is_short = 1; break;
        case 'c': options.csv = 1; break;
        case 'l': options.list = 1; break;
        case 'g': options.growth = 1; break;
        case 'n':
            if (read_number("--operations", optarg, &options.operations)) return 2;
            break;
        case 'z':
            if (read_number("--size", optarg, &options.size)) return 2;
            break;
        case 'h': usage(stdout); return 0;
        default: usage(stderr); return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "micro: unexpected argument '%s'\n", argv[optind]);
        usage(stderr);
        return 2;
    }
    for (; *topics; topics++)
        for (const micro_case *one = *topics; one->name; one++) {
            char name[100];
            micro_case named = *one;
            named.name = name;
            for (micro_subject = 0; name_case(one, name, sizeof name); micro_subject++)
                good = do_case(&named, &options, &any) && good;
        }
    if (!any) {
        fprintf(stderr, "micro: no case begins with '%s'%s; --list prints them all\n", options.only ? options.only : "",
                options.size ? " and has that size" : "");
        return 2;
    }
    return good ? 0 : 1;
}
