/* Helpers for an output that is stored past the caches: a row's whole cache lines, and lines that
 * two rows share. SPDX-License-Identifier: MIT */
#pragma once

#include "vec.h"

enum { LINE = 64 /* bytes of a cache line */ };

/* The elements [begin, end) that lie in whole lines, among `count` elements that start at y. */
typedef struct whole_lines {
    size_t begin, end;
} whole_lines;

NL_INLINE whole_lines whole_lines_of(const void *y, size_t size, size_t count) {
    const size_t off = (uintptr_t)y % LINE, first = off ? (LINE - off) / size : 0;
    const size_t begin = first < count ? first : count;
    return (whole_lines){begin, begin + (count - begin) / (LINE / size) * (LINE / size)};
}

/* A line of y in which one row ends and the next begins. An ordinary store would fetch the line
 * from memory, and all later stores would wait, so the line is collected here until it is whole. */
typedef struct shared_line {
    _Alignas(LINE) char bytes[LINE];
    size_t held; /* bytes collected so far; 0: none */
    char *y;     /* address of the line */
} shared_line;

/* Stores the collected bytes of a line that did not become whole. */
NL_INLINE void put_waiting(shared_line *line) {
    if (line->held) memcpy(line->y, line->bytes, line->held);
    line->held = 0;
}

/* Where to store the bytes before a row's whole lines: behind collected bytes that end at y, or at
 * y if there are none. */
NL_INLINE void *head_at(shared_line *line, void *y, size_t bytes) {
    if (line->held && line->y + line->held != (char *)y) put_waiting(line);
    if (line->held == 0) return y;
    line->held += bytes;
    return line->bytes + line->held - bytes;
}

/* Where to store the bytes after a row's whole lines. */
NL_INLINE void *tail_at(shared_line *line, void *y, size_t bytes) {
    line->y = y, line->held = bytes;
    return line->bytes;
}

/* Streams a whole line. Call at a row's end: the load waits for the stores of the row's head. */
NL_INLINE void put_if_whole(shared_line *line) {
    if (line->held != LINE) return;
    float whole[LINE / sizeof(float)]; /* moves bits only; the elements may be 16-bit */
    memcpy(whole, line->bytes, LINE);
    for (size_t i = 0; i < LINE / sizeof(float); i += VLEN)
        vstream(NL_F32, line->y, i, vload(NL_F32, whole, i, VLEN));
    line->held = 0;
}
