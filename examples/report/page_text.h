/* page_text: page.html, page.css and page.js, as embed.cmake compiles them into the program. */
#ifndef REPORT_PAGE_TEXT_H
#define REPORT_PAGE_TEXT_H

extern const char page_html[], page_css[], page_js[];

#endif
