/* page: one HTML file that shows timelines and opens from disk. The drawing code, page.js, page.css and page.html, is
 * compiled into the program and copied into every page, followed by the data as JSON. A page does not use the network.
 *
 *     page *p = page_open("run.html", about);
 *     page_run(p, "switch", t, facts);         // one or more, drawn below each other on one time axis
 *     if (page_close(p)) ... errno has the cause ... */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "../gpump_once.h"
#include "timeline.h"

typedef struct page page;

/* Opens a page for writing. `about` is taken over: an object with
 *   title    one line
 *   intro    a paragraph that says what is seen (optional)
 *   record   list of [name, value] or [name, value, remark]: configuration, command, versions (the page adds
 *            gpump's and the model's)
 *   files    list of [name, text]: launch files, word for word (optional)
 *   tables   list of {title, columns, rows}: further tables (optional)
 * Returns NULL with errno when the file cannot be written. */
page *page_open(const char *path, json_t *about);
/* Adds a run. Takes `facts` over: a list of [name, value] that stands beside the run's name; NULL: none. */
void page_run(page *p, const char *name, const timeline *t, json_t *facts);
/* Writes a run as page_run does, to a file of its own, for a process that has no access to the page. Takes `facts`
 * over. Returns 0, or -1. */
int page_write_run(FILE *file, const char *name, const timeline *t, json_t *facts);
/* Adds a run that page_write_run has written, from the file's position to its end. */
void page_copy_run(page *p, FILE *file);
/* Ends the page. Returns 0, or -1 with errno when something could not be written, or was not recorded because memory
 * was out. */
int page_close(page *p);

/* Appends a GPU's preset and numbers to a record, with the source of each. */
void page_record_gpu(json_t *record, const gpump_gpu *gpu, const char *preset);
/* Returns a list of [name, text] with the content of a file, for `files`. An unreadable file gives an empty list. */
json_t *page_file(const char *path);

#endif
