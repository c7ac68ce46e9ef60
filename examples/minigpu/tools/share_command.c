/* share_command: see share_command.h. */
#define _GNU_SOURCE
#include "tools/share_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/share_server.h"
#include "sm/runtime_calls.h"
#include "tools/no_effect.h"
#include "tools/run_machine.h"
#include "tools/run_options.h"

#define WORDS_MAX 64

/* One program: its command line, cut into words. */
typedef struct shared_program {
    char *words[WORDS_MAX];
    pid_t process;
    int status; /* of wait */
} shared_program;

typedef struct sharing {
    run_arguments arguments; /* first: the tables of `minigpu run` write into it */
    device_options options;
    share_server *server;
    shared_program programs[SHARE_PROGRAMS_MAX];
    uint32_t count;
    effects_seen effects;
} sharing;

/* Cuts a command line at its blanks. Returns 0, or -1 after a report. */
static int cut(shared_program *p, const char *line) {
    char *copy = option_keep(strdup(line)), *rest = NULL, *word;
    uint32_t n = 0;
    for (word = copy ? strtok_r(copy, " ", &rest) : NULL; word && n + 1 < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
        p->words[n++] = word;
    if (!n || word) return option_misuse("share", n ? "too many words in" : "an empty command line", n ? line : NULL);
    if (strchr(p->words[0], '/') && access(p->words[0], X_OK)) {
        fprintf(stderr, "minigpu share: cannot run %s: %s\n", p->words[0], strerror(errno));
        return -1;
    }
    return 0;
}

/* Becomes the program. */
static void execute(const shared_program *p, int memory, int socket, uint32_t part, uint32_t most) {
    char text[64];
    snprintf(text, sizeof text, "%d:%d:%u:%u", memory, socket, part, most);
    setenv("MINIGPU_SHARE", text, 1);
    fcntl(memory, F_SETFD, 0);
    fcntl(socket, F_SETFD, 0);
    execvp(p->words[0], p->words);
    fprintf(stderr, "minigpu share: cannot run %s: %s\n", p->words[0], strerror(errno));
    _exit(127);
}

static int start(sharing *s, uint32_t i) {
    shared_program *p = &s->programs[i];
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return cannot_write("a socket");
    fflush(NULL);
    p->process = fork();
    if (p->process < 0) return cannot_write("a process");
    if (!p->process) execute(p, share_server_memory(s->server), ends[1], i, DEVICE_STARTED_MAX / s->count);
    close(ends[1]);
    share_server_add(s->server, ends[0]);
    return 0;
}

/* What kernels have printed; and which requests had an effect. */
static void ran(void *user, machine *m, const launch_file *launch, int failed) {
    sharing *s = (sharing *)user;
    (void)launch;
    if (!failed) effects_note(&s->effects, m);
    runtime_calls_print(m, stdout);
    fflush(stdout);
}

static void built(void *user, machine *m, const launch_file *launch) {
    const sharing *s = (const sharing *)user;
    (void)launch;
    if (s->arguments.deadline_ns != NEVER)
        m->limit_cycles = gpump_gpu_cycles_from_ns(&m->config.gpu, s->arguments.deadline_ns);
    m->late_price = s->arguments.late_price;
}

/* How a program has ended, in words; *right becomes 0 unless it ended well. */
static const char *ending(const shared_program *p, const share_counts *c, char *text, size_t bytes, int *right) {
    if (WIFSIGNALED(p->status))
        snprintf(text, bytes, "ended by signal %d (%s)", WTERMSIG(p->status), strsignal(WTERMSIG(p->status)));
    else if (!c->launches && !WEXITSTATUS(p->status))
        snprintf(text, bytes, "status 0, but it launched no kernel: was it made by minigpu-cc?");
    else
        snprintf(text, bytes, "status %d", WEXITSTATUS(p->status));
    if (p->status || !c->launches) *right = 0;
    return text;
}

static int report(sharing *s) {
    const uint64_t rounds = share_server_common_rounds(s->server);
    uint32_t i;
    int right = 1;
    printf("%-24s %8s %8s %14s  %s\n", "program", "launches", "rounds", "last cycle", "ended with");
    for (i = 0; i < s->count; i++) {
        const share_counts *c = share_server_counts(s->server, i);
        char text[128];
        printf("%-24s %8" PRIu64 " %8" PRIu64 " %14" PRIu64 "  %s\n", s->programs[i].words[0], c->launches, c->rounds,
               c->end_cycle, ending(&s->programs[i], c, text, sizeof text, &right));
    }
    printf("%" PRIu64 " round%s had kernels of several programs.\n", rounds, rounds == 1 ? "" : "s");
    no_effect_report(&s->arguments, &s->effects, stderr);
    return right ? EXIT_RIGHT : EXIT_WRONG;
}

/* Reports what `minigpu run` writes about a single launch file. */
static int is_of_run(const run_arguments *a) {
    const char *path = a->html ? a->html : a->trace ? a->trace : a->dump ? a->dump : a->write_trace;
    if (!path && !a->json && !a->csv && !a->stats && !a->races) return 0;
    return option_misuse("share", "--html, --trace, --dump, --json, --csv, --stats and --races are for minigpu run",
                         path);
}

static int share(const option_command *command, int argc, char **argv) {
    static sharing s;
    char error[LAUNCH_ERROR_BYTES] = "";
    int operands, status;
    uint32_t i;
    memset(&s, 0, sizeof s);
    run_arguments_default(&s.arguments);
    s.arguments.machine.gpu = "k20c";
    if ((status = options_read(command, argc, argv, &s, &operands)) != OPTIONS_GO_ON) return status;
    if (operands < 2) return option_misuse("share", "which programs? two or more", operands ? argv[1] : NULL);
    if (operands > (int)SHARE_PROGRAMS_MAX)
        return option_misuse("share", "at most 8 programs; one too many is", argv[9]);
    if (s.arguments.machine.functional)
        return option_misuse("share", "programs share a machine in time, so leave --functional away", NULL);
    if (run_arguments_finish(&s.arguments) || is_of_run(&s.arguments)) return EXIT_BAD_INPUT;
    for (s.count = 0; s.count < (uint32_t)operands; s.count++)
        if (cut(&s.programs[s.count], argv[s.count + 1])) return EXIT_BAD_INPUT;
    s.options.machine = s.arguments.machine;
    s.options.sms = s.arguments.sms;
    s.options.built = built;
    s.options.ran = ran;
    s.options.user = &s;
    if (!(s.server = share_server_open(&s.options, error))) {
        fprintf(stderr, "minigpu share: %s\n", error);
        return EXIT_BAD_INPUT;
    }
    for (i = 0; i < s.count; i++)
        if (start(&s, i)) return EXIT_BAD_INPUT;
    share_server_run(s.server);
    for (i = 0; i < s.count; i++) waitpid(s.programs[i].process, &s.programs[i].status, 0);
    status = report(&s);
    share_server_close(s.server);
    return status;
}

const option_command share_command = {
    .name = "share",
    .what = "CUDA programs that share one machine",
    .usage = "minigpu share PROGRAM PROGRAM... [options]",
    .operands = "PROGRAM|program of minigpu-cc, with its arguments as one word: \"./stencil 64\"",
    .sets = run_sets,
    .rules = run_rule_arrays,
    .notes = "Each program is a process of the scheduler, and its streams are, too. When every program waits for "
             "kernels or has ended, the kernels of all run together until they have ended: a round. A failing "
             "kernel ends the work of all programs, as on a GPU that runs MPS.\n"
             "exit status: 0 all programs ended with status 0, 1 one did not, 2 bad input",
    .bit = COMMAND_RUN,
    .run = share,
};
