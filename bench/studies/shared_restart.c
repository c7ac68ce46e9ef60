/* bench/shared_restart [--short] [KERNEL...]: the cost of restoring shared memory with its warp, as CSV.
 *
 * The kernels are those with shared memory and those of iGPU's suite (or the named ones), on igpu4. The ways are
 * regions that end where shared memory is overwritten (cuts), three kinds of hardware that make these ends unnecessary
 * (saved, buffered, versioned; parts/shared_log/shared_log.h), and regions as the published lengths suggest, which
 * cannot be restarted safely (published).
 *
 * - length, mean: of sparse regions as they ran, in warp instructions
 * - sparse, 32, razor: cycles in percent of the kernel without regions: with sparse regions, with short ones of 32, and
 *   with these when 1% of the instructions err (Razor)
 * - instructions: of the second of these runs, in percent
 * - words, most: words of shared memory that it overwrites, and the most of them on an SM within running regions
 * - copied: bytes that are copied
 *
 * The last lines are geometric means. */
#include "studies/region_runs.h"

#include "output.h"
#include "progress.h"

enum { CUTS, SAVED, BUFFERED, VERSIONED, PUBLISHED, WAYS };
enum { SPARSE, SHORT_32, RAZOR, FORMS };
static const char *const suite[] = {"bfs_1", "cp", "lib", "lps", "nn_1", "nn_2", "nn_3", "nn_4", "sto"};
enum { SUITE = sizeof suite / sizeof *suite };
static const char *const names[WAYS] = {"cuts", "saved", "buffered", "versioned", "published"};
/* Sums of logarithms, over the suite and over all kernels with shared memory. */
static double sums[2][WAYS][FORMS];
static uint32_t counts[2];

static int in_suite(const char *name) {
    uint32_t i;
    for (i = 0; i < SUITE; i++)
        if (!strcmp(name, suite[i])) return 1;
    return 0;
}

/* Returns 0 when the kernel cannot run that way. */
static int measure_form(const char *name, int is_short, uint32_t way, uint32_t form, region_run *run) {
    errors_options errors;
    region_way how;
    memset(&how, 0, sizeof how);
    errors_options_default(&errors);
    errors.detection = "razor";
    how.regions = form == SPARSE ? REGIONS_SPARSE : 32;
    how.published = way == PUBLISHED;
    how.shared_restart = way == PUBLISHED ? (uint32_t)SHARED_CUTS : way;
    how.lengths = form == SPARSE;
    how.errors = form == RAZOR ? &errors : NULL;
    region_run_kernel(name, is_short, &how, run);
    if (run->error[0]) fprintf(stderr, "%s, %s: %s\n", name, names[way], run->error);
    return !run->error[0];
}

static void measure(const char *name, int is_short, int wanted) {
    region_run plain, runs[WAYS][FORMS];
    region_way how;
    uint32_t way, form, group;
    const int is_suite = in_suite(name);
    memset(&how, 0, sizeof how);
    region_run_kernel(name, is_short, &how, &plain);
    if (wanted && plain.error[0]) {
        fprintf(stderr, "shared_restart: %s\n", plain.error);
        exit(2);
    }
    if (plain.error[0] || (!plain.shared_bytes && !is_suite && !wanted)) return;
    memset(runs, 0, sizeof runs);
    for (way = 0; way < WAYS; way++)
        for (form = 0; form < FORMS && !(way == PUBLISHED && form == RAZOR); form++)
            if (!measure_form(name, is_short, way, form, &runs[way][form])) return;
    for (group = 0; group < 2; group++) {
        if (group ? !plain.shared_bytes : !is_suite) continue;
        counts[group]++;
        for (way = 0; way < WAYS; way++)
            for (form = 0; form < FORMS; form++)
                sums[group][way][form] += log((double)runs[way][form].cycles / (double)plain.cycles);
    }
    for (way = 0; way < WAYS; way++) {
        const region_run *r = runs[way];
        printf("%s,%s,%.6g,%.1f,", name, names[way], r[SPARSE].median_length, r[SPARSE].mean_length);
        for (form = 0; form < FORMS; form++) {
            if (r[form].cycles) printf("%.1f", 100 * ((double)r[form].cycles / (double)plain.cycles - 1));
            printf(",");
        }
        printf("%.1f,", 100 * ((double)r[SHORT_32].instructions / (double)plain.instructions - 1));
        printf("%u,%u,%llu,%llu,%llu\n", plain.shared_bytes, r[SHORT_32].blocks,
               (unsigned long long)r[SHORT_32].shared.words, (unsigned long long)r[SHORT_32].shared.most,
               (unsigned long long)r[SHORT_32].shared.copied_bytes);
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    static char kernels[REGION_KERNELS][64];
    uint32_t i, count, way, form, group;
    progress shown;
    int is_short = argc > 1 && !strcmp(argv[1], "--short");
    if (argc > 1 && argv[1][0] == '-' && !is_short) {
        fputs("usage: shared_restart [--short] [KERNEL...]: what it costs when shared memory goes back, as CSV\n",
              strcmp(argv[1], "--help") ? stderr : stdout);
        return strcmp(argv[1], "--help") ? 2 : output_status(0, "shared_restart");
    }
    progress_begin(&shown, "shared_restart");
    printf("kernel,way,length,mean,sparse,32,razor,instructions,shared_bytes,blocks,words,most,copied\n");
    if (argc > 1 + is_short) {
        for (i = 1u + (uint32_t)is_short; i < (uint32_t)argc; i++) measure(argv[i], is_short, 1);
    } else {
        count = region_kernels(kernels);
        for (i = 0; i < count; i++) {
            progress_show(&shown, (double)i / count, kernels[i]);
            measure(kernels[i], is_short, 0);
        }
        progress_end(&shown);
    }
    for (group = 0; group < 2; group++)
        for (way = 0; way < WAYS && counts[group]; way++) {
            printf("%s,%s,,,", group ? "all with shared memory" : "suite of iGPU", names[way]);
            for (form = 0; form < FORMS; form++) {
                if (!(way == PUBLISHED && form == RAZOR))
                    printf("%.1f", 100 * (exp(sums[group][way][form] / counts[group]) - 1));
                printf(",");
            }
            printf(",,,,,\n");
        }
    return output_status(0, "shared_restart");
}
