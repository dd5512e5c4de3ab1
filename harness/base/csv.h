/* Reads CSV (cuts a file into records and fields in place; messages name file and line) and writes
 * fields. Also checksums and lists of files. SPDX-License-Identifier: MIT */
#pragma once

#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The position in the text, and the record just read. */
typedef struct scan {
    const char *path;
    char *error;
    size_t error_size;
    char *at, *end;
    size_t line, first_line; /* line numbers of `at` and of the record's start */
    char **fields;
    size_t count, room;
    bool cut; /* the text ended before the record did */
} scan;

/* Writes "path:line: ..." (line 0: "path: ...") into the error; always false. */
bool scan_error(const scan *s, size_t line, const char *format, ...);

/* Is c a control character? In files only tabs and line ends are allowed, because a terminal would
 * obey other control characters. */
bool is_control(char c);

/* Reads a file as NUL-terminated text, which the caller frees. Rejects control characters. False:
 * *text is NULL. */
bool scan_file(scan *s, char **text);

/* Cuts off the next line, number s->first_line. NULL: end of the text. */
char *scan_line(scan *s);

/* Reads the next record into s->fields. A quote that is never closed is an error if lines follow;
 * in the last line it sets s->cut. */
bool scan_record(scan *s);

bool ends_with(const char *text, const char *end);

/* Replaces the ending .csv of a path; if the path has another ending, appends `ending`. False: the
 * path is too long. */
enum { CSV_PATH = 4096 };
bool csv_beside(const char *csv, const char *ending, char path[CSV_PATH]);

/* Removes an incomplete UTF-8 character at the end of a text that was cut. */
void text_end_whole(char *text);

/* Reads a number. False: the text is no number, or not a finite one. */
bool csv_finite(const char *text, double *v);

/* Write a field and a comma: text, quoted if necessary; or a number, empty for a NaN. */
void csv_text(FILE *out, const char *text);
void csv_number(FILE *out, double v);

/* Continue a CRC-32 (zlib's; initially 0) with a text or a file. False: cannot read the file. */
uint32_t crc_text(uint32_t crc, const char *text);
bool crc_file(uint32_t *crc, const char *path);

/* Finds the files FOLDER/PATTERN; free with globfree(). Special characters in FOLDER are not
 * patterns. Returns the number of files. */
size_t files_in(const char *folder, const char *pattern, glob_t *found);
