/* csv_merge: the parts of a sharded experiment as one file. */
#ifndef EXAMPLES_REPORT_CSV_MERGE_H
#define EXAMPLES_REPORT_CSV_MERGE_H

/* Writes the lines of parts[count], ordered by the number in front and then by their place in their part, under their
 * one header to `target`: the same file as without shards. Reports errors on stderr in the name of `program`. Returns
 * an exit status: 0; 1, out of memory; 2, a file that cannot be read or written, or is no such part, or a target that
 * exists. */
int csv_merge(const char *program, const char *target, char **parts, int count);

#endif
