#include "state/state.h"

#include <stdarg.h>
#include <stdio.h>

static __thread sm_failure *instead;

void machine_fail_into(sm_failure *failure) { instead = failure; }

void machine_fail(machine *m, const char *format, ...) {
    uint32_t *failed = instead ? &instead->failed : &m->failed;
    va_list arguments;
    if (*failed) return;
    *failed = 1;
    va_start(arguments, format);
    vsnprintf(instead ? instead->text : m->error, LAUNCH_ERROR_BYTES, format, arguments);
    va_end(arguments);
}

void machine_must(machine *m, const char *what, gpump_result result, const gpump_diag *diag) {
    char text[256] = "";
    if (result == GPUMP_OK) return;
    if (diag) gpump_diag_text(diag, text, sizeof text);
    machine_fail(m, "%s: %s", what, *text ? text : gpump_result_name(result));
}
