#include "parts/code_pages/code_pages.h"

#include <inttypes.h>
#include <jansson.h>

static int is_handler(const machine *m, uint32_t page) { return page + 1 == m->code.count; }

/* Sets *first and *last to the lines of a PTX file that the instructions of a page come from. */
static void lines_of(const machine *m, const kernel *k, uint64_t page, uint32_t *first, uint32_t *last) {
    const uint64_t per_page = PAGE_BYTES / m->config.instruction_bytes, begin = (page - k->code_page) * per_page;
    uint64_t i;
    *first = UINT32_MAX;
    *last = 0;
    for (i = begin; i < begin + per_page && i < k->program->count; i++) {
        const uint32_t line = k->program->instructions[i].line;
        if (line < *first) *first = line;
        if (line > *last) *last = line;
    }
}

void code_pages_report(const machine *m, FILE *file) {
    uint64_t faults = 0;
    uint32_t i, wanted = 0;
    for (i = 0; i < m->code.count; i++) {
        const code_page p = code_pages_note(m, i);
        faults += p.faults;
        wanted += p.faults != 0;
    }
    fprintf(file,
            "code: %u pages were fetched from while they were absent; warps have waited for one %" PRIu64 " times\n",
            wanted, faults);
    for (i = 0; i < m->code.count; i++) {
        const code_page p = code_pages_note(m, i);
        const kernel *k = &m->kernels[p.kernel];
        uint32_t first, last;
        if (!p.faults) continue;
        fprintf(file, "  cycle %" PRIu64 ": block %" PRIu64 ", warp %u of %s, at %s:%u, ", p.cycle, p.linear, p.warp,
                k->program->name, k->program->file_name, k->program->instructions[p.pc].line);
        lines_of(m, k, m->code.first + i, &first, &last);
        if (is_handler(m, i))
            fprintf(file, "calls the fault handler, whose page is absent\n");
        else
            fprintf(file, "fetches from an absent page, that of lines %u to %u\n", first, last);
    }
}

void code_pages_report_json(const machine *m, json_t *members) {
    json_t *all = json_array();
    uint32_t i;
    for (i = 0; i < m->code.count; i++) {
        const code_page p = code_pages_note(m, i);
        const kernel *k = &m->kernels[p.kernel];
        if (!p.faults) continue;
        json_array_append_new(all, json_pack("{s:s,s:s,s:s,s:i,s:o,s:o,s:i,s:o}", "page",
                                             is_handler(m, i) ? "handler" : "kernel", "kernel", k->program->name, "ptx",
                                             k->program->file_name, "line", (int)k->program->instructions[p.pc].line,
                                             "cycle", json_integer((json_int_t)p.cycle), "block",
                                             json_integer((json_int_t)p.linear), "warp", (int)p.warp, "waits",
                                             json_integer((json_int_t)p.faults)));
    }
    json_object_set_new(members, "code_pages", all);
}
