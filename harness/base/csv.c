/* A damaged file is an error; the reader never guesses. SPDX-License-Identifier: MIT */
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool scan_error(const scan *s, size_t line, const char *format, ...) {
    int n = line ? snprintf(s->error, s->error_size, "%s:%zu: ", s->path, line)
                 : snprintf(s->error, s->error_size, "%s: ", s->path);
    va_list a;
    va_start(a, format);
    if (n >= 0 && (size_t)n < s->error_size)
        vsnprintf(s->error + n, s->error_size - (size_t)n, format, a);
    va_end(a);
    return false;
}

bool is_control(char c) {
    return (unsigned char)c < ' ' || c == 0x7f;
}

static bool read_text(scan *s, char **text) {
    struct stat about;
    *text = NULL;
    if (stat(s->path, &about) != 0) return scan_error(s, 0, "cannot read it: %s", strerror(errno));
    if (!S_ISREG(about.st_mode)) return scan_error(s, 0, "it is not a file");
    size_t size = (size_t)about.st_size;
    FILE *f = size < SIZE_MAX ? fopen(s->path, "rb") : NULL;
    if (!f) return scan_error(s, 0, "cannot read it: %s", strerror(errno));
    *text = malloc(size + 1);
    size_t got = *text ? fread(*text, 1, size, f) : 0;
    bool all = got == size && !ferror(f);
    fclose(f);
    if (!*text) return scan_error(s, 0, "no memory for %zu bytes", size);
    if (!all) return scan_error(s, 0, "cannot read all of its %zu bytes", size);
    (*text)[size] = '\0';
    s->at = *text, s->end = *text + size, s->line = 1;
    size_t line = 1;
    for (const char *p = s->at; p < s->end; line += *p++ == '\n') {
        if (!is_control(*p) || *p == '\n' || *p == '\r' || *p == '\t') continue;
        return scan_error(s, line, "byte 0x%02x does not belong in a text file", (unsigned char)*p);
    }
    if (size >= 3 && memcmp(s->at, "\xef\xbb\xbf", 3) == 0) s->at += 3; /* a BOM */
    return true;
}

bool scan_file(scan *s, char **text) {
    if (read_text(s, text)) return true;
    free(*text);
    *text = NULL;
    return false;
}

char *scan_line(scan *s) {
    char *line = s->at, *end = line + strcspn(line, "\n");
    if (line == s->end) return NULL;
    s->first_line = s->line++;
    s->at = end + (*end != '\0');
    *end = '\0';
    if (end > line && end[-1] == '\r') end[-1] = '\0';
    return line;
}

static bool add_field(scan *s, char *field) {
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        char **fields = realloc(s->fields, room * sizeof *fields);
        if (!fields) return scan_error(s, s->line, "no memory for its fields");
        s->fields = fields, s->room = room;
    }
    s->fields[s->count++] = field;
    return true;
}

bool scan_record(scan *s) {
    s->count = 0, s->first_line = s->line;
    for (char ended = ','; ended == ',';) {
        char *from = s->at, *to;
        bool open = *from == '"';
        if (open) {
            for (from = to = ++s->at; open && s->at < s->end; s->at++) {
                open = *s->at != '"' || *++s->at == '"'; /* "" is an escaped quote */
                if (!open) break;
                s->line += *s->at == '\n';
                *to++ = *s->at;
            }
            s->at += *s->at == '\r' && s->at[1] == '\n';
        } else {
            s->at += strcspn(s->at, ",\"\n");
            to = s->at;
            if (to > from && *to == '\n' && to[-1] == '\r') to--;
        }
        if (open && s->line > s->first_line)
            return scan_error(s, s->first_line, "a quote in this line is never closed");
        ended = *s->at;
        if (ended && ended != ',' && ended != '\n')
            return scan_error(s, s->line, "a quote does not enclose a whole field");
        *to = '\0';
        if (!add_field(s, from)) return false;
        s->cut = !ended;
        s->line += ended == '\n';
        s->at += ended != '\0';
    }
    return true;
}

bool ends_with(const char *text, const char *end) {
    const size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

bool csv_beside(const char *csv, const char *ending, char path[CSV_PATH]) {
    const size_t stem = strlen(csv) - (ends_with(csv, ".csv") ? 4 : 0);
    return snprintf(path, CSV_PATH, "%.*s%s", (int)stem, csv, ending) < CSV_PATH;
}

void text_end_whole(char *text) {
    size_t n = strlen(text), follow = 0; /* continuation bytes 10xxxxxx of a character */
    while (follow < 3 && follow < n && (text[n - 1 - follow] & 0xc0) == 0x80) follow++;
    if (follow == n) return;
    unsigned char first = (unsigned char)text[n - 1 - follow];
    if (follow < (size_t)((first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0)))
        text[n - 1 - follow] = '\0';
}

/* Accepts digits, sign, point, exponent only; strtod also takes nan, inf, hexadecimal, blanks. */
bool csv_finite(const char *text, double *v) {
    char *end;
    if (text[strspn(text, "0123456789+-.eE")]) return false;
    *v = strtod(text, &end);
    return end != text && !*end && isfinite(*v);
}

void csv_text(FILE *out, const char *text) {
    if (!text[strcspn(text, ",\"\n")]) {
        fprintf(out, "%s,", text);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

void csv_number(FILE *out, double v) {
    if (!isnan(v)) fprintf(out, "%.6g", v);
    fputc(',', out);
}

static uint32_t crc_bytes(uint32_t crc, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (crc = ~crc; count--; at++) {
        crc ^= *at;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

uint32_t crc_text(uint32_t crc, const char *text) {
    return crc_bytes(crc, text, strlen(text));
}

bool crc_file(uint32_t *crc, const char *path) {
    char bytes[4096];
    FILE *f = fopen(path, "rb");
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        *crc = crc_bytes(*crc, bytes, n);
    const bool ok = f && !ferror(f);
    return f && fclose(f) == 0 && ok;
}

size_t files_in(const char *folder, const char *pattern, glob_t *found) {
    char path[8300], *to = path;
    for (; *folder && to < path + 8192; *to++ = *folder++)
        if (strchr("*?[\\", *folder)) *to++ = '\\';
    snprintf(to, 100, "/%s", pattern);
    return glob(path, 0, NULL, found) == 0 ? found->gl_pathc : 0;
}
