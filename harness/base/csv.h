/* CSV: a file cut into records and fields where it lies in memory, with messages that name file and
 * line; and the writing of fields. SPDX-License-Identifier: MIT */
#ifndef NL_CSV_H
#define NL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where we are in the text, and the record just read. */
typedef struct scan {
    const char *path;
    char *error;
    size_t error_size;
    char *at, *end;
    size_t line, first_line; /* now, and where the record began */
    char **fields;
    size_t count, room;
    bool cut; /* the text ended before the record did */
} scan;

/* Writes "path:line: ..." (line 0: "path: ...") into the error; always false. */
bool complain(const scan *s, size_t line, const char *format, ...);

/* Reads a file as text with a NUL behind it, to be freed. Bytes that no text has are damage, and
 * escape sequences have no business on the reader's terminal. */
bool slurp(scan *s, char **text);

/* The next record into s->fields. A quote that swallows the rest of several lines is damage; inside
 * the last line it is where that was cut off. */
bool next_record(scan *s);

/* A field and the comma behind it: text quoted where it must be; a number, or nothing for a NaN. */
void csv_text(FILE *out, const char *text);
void csv_number(FILE *out, double v);

#endif
