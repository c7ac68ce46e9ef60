/* svg: what every picture of minigpu begins and ends with, and text in it. */
#ifndef MINIGPU_SVG_H
#define MINIGPU_SVG_H

#include <stdio.h>

/* Begins a picture of so many pixels on a white ground. */
void svg_begin(FILE *out, int width, int height);
/* Writes text from outside, such as a C++ kernel's name, with the characters escaped that mean something in XML. */
void svg_text(FILE *out, const char *text);
void svg_end(FILE *out);

#endif
