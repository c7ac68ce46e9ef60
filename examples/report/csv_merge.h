/* csv_merge: the parts of a sharded experiment as one file. */
#ifndef EXAMPLES_REPORT_CSV_MERGE_H
#define EXAMPLES_REPORT_CSV_MERGE_H

/* Writes the lines of parts[count] to `target` under their one header, ordered by the number in front and then by their
 * order in their part. The file is the same as without shards. `first` is the name of the column of numbers, with
 * which the header of a part must begin. Reports errors on stderr in the name of `program`. Returns an exit status: 0;
 * 1 when memory is out; 2 for a file that cannot be read or written or is no such part, and for a target that exists.
 */
int csv_merge(const char *program, const char *first, const char *target, char **parts, int count);

#endif
