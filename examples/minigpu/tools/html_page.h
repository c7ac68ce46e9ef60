/* html_page: the description of minigpu's machines and runs for a page (examples/report/page.h). */
#ifndef MINIGPU_HTML_PAGE_H
#define MINIGPU_HTML_PAGE_H

#include "page.h"
#include "tools/report.h"

/* Keeps the command line, in a form that can be typed again, for pages. */
void html_page_command(int argc, char **argv);
/* Returns the `about` of a page: title, introduction, the machine's configuration, the command, and the text of the
 * launch file. launch may be NULL. */
json_t *html_page_about(const machine *m, const launch_file *launch, const char *title, const char *intro);
/* Returns the facts of a run: each kernel's time, whether its result is right, and the cost of the preemption. */
json_t *html_page_facts(const run_result *result);

#endif
