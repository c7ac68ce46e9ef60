#include "machine/state.h"

#include <stdarg.h>
#include <stdio.h>

void machine_fail(machine *m, const char *format, ...) {
    va_list arguments;
    if (m->failed) return;
    m->failed = 1;
    va_start(arguments, format);
    vsnprintf(m->error, sizeof m->error, format, arguments);
    va_end(arguments);
}

void machine_must(machine *m, const char *what, gpump_result result, const gpump_diag *diag) {
    char text[256] = "";
    if (result == GPUMP_OK) return;
    if (diag) gpump_diag_text(diag, text, sizeof text);
    machine_fail(m, "cycle %llu: %s: %s %s", (unsigned long long)m->now, what, gpump_result_name(result), text);
}
