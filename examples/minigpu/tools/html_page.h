/* html_page: what minigpu tells a page (examples/report/page.h) about its machines and runs. */
#ifndef MINIGPU_HTML_PAGE_H
#define MINIGPU_HTML_PAGE_H

#include "page.h"
#include "tools/report.h"

/* Notes the command line, as it can be typed again, for the records of pages. */
void html_page_command(int argc, char **argv);
/* The `about` of a page: title, introduction, the machine's configuration, the command, the launch file word for word
 * (launch may be NULL). */
json_t *html_page_about(const machine *m, const launch_file *launch, const char *title, const char *intro);
/* Facts of a run, beside its name: each kernel's time, whether its result is right, what the preemption cost. */
json_t *html_page_facts(const run_result *result);

#endif
