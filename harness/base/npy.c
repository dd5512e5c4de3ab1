/* A .npy file is a magic, a version, a length, a Python dict as text (type, order, shape), and the
 * elements. What is read is hostile until checked, sizes before any memory is taken for them.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * SPDX-License-Identifier: MIT */
#include "base/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are used as they lie");

enum { HEADER_MOST = 10000 }; /* NumPy's own limit */

static const struct type {
    const char *name;
    char letter;
    size_t bytes;
} types[] = {{"f2", 'e', 2}, {"f4", 'f', 4}, {"f8", 'd', 8}};

static const struct type *find_type(char letter) {
    for (int i = 0; i < 3; i++)
        if (types[i].letter == letter) return &types[i];
    return NULL;
}

typedef struct report {
    const char *path;
    char *text;
    size_t size;
} report;

/* Every message begins with the file. */
static bool wrong(const report *to, const char *format, ...) {
    va_list rest;
    int n = snprintf(to->text, to->size, "%.200s", to->path);
    va_start(rest, format);
    if (n >= 0 && (size_t)n < to->size) vsnprintf(to->text + n, to->size - (size_t)n, format, rest);
    va_end(rest);
    return false;
}

/* Like NumPy, counts an axis of length 0 as 1 here: no product of any axes can overflow later. */
static bool count_elements(npy *a, size_t bytes_each) {
    size_t product = 1, most = PTRDIFF_MAX / bytes_each;
    bool empty = false;
    for (size_t i = 0; i < a->rank; i++) {
        empty |= a->shape[i] == 0;
        if (a->shape[i] > most / product) return false;
        if (a->shape[i]) product *= a->shape[i];
    }
    a->count = empty ? 0 : product;
    return true;
}

void npy_shape_text(const npy *a, char text[NPY_SHAPE_TEXT]) {
    size_t n = 0;
    text[n++] = '(';
    for (size_t i = 0; i < a->rank; i++)
        n += (size_t)sprintf(text + n, "%s%zu", i ? ", " : "", a->shape[i]);
    strcpy(text + n, a->rank == 1 ? ",)" : ")");
}

static bool eat(const char **p, const char *token) {
    size_t length = strlen(token);
    *p += strspn(*p, " \t\r\n");
    if (strncmp(*p, token, length) != 0) return false;
    *p += length;
    return true;
}

/* 'text' or "text"; what a terminal should not be sent becomes '?'. */
static bool eat_string(const char **p, char *out, size_t size) {
    char quote = eat(p, "'") ? '\'' : '"';
    if (quote == '"' && !eat(p, "\"")) return false;
    const char *end = strchr(*p, quote);
    if (!end || (size_t)(end - *p) >= size) return false;
    while (*p < end) {
        unsigned char c = (unsigned char)*(*p)++;
        *out++ = c >= ' ' && c <= '~' ? (char)c : '?';
    }
    *out = '\0';
    ++*p;
    return true;
}

/* Too many axes are counted but not kept; a number too large becomes the largest. */
static bool eat_shape(const char **p, npy *a) {
    if (!eat(p, "(")) return false;
    while (!eat(p, ")")) {
        char *end;
        if (!isdigit((unsigned char)**p)) return false;
        unsigned long long length = strtoull(*p, &end, 10);
        *p = end;
        eat(p, "L"); /* Python 2 wrote long integers so */
        if (a->rank < NPY_RANK_MOST) a->shape[a->rank] = length < SIZE_MAX ? length : SIZE_MAX;
        a->rank++;
        if (!eat(p, ",")) return a->rank > 1 && eat(p, ")"); /* (3) is no tuple, (3,) is */
    }
    return true;
}

typedef struct header {
    char type[32];
    bool fields, fortran; /* fields: a list instead of a type */
} header;

/* Each of the three keys once, in any order; false: malformed at *p. */
static bool eat_header(const char **p, header *h, npy *a) {
    unsigned seen = 0;
    char key[16];
    if (!eat(p, "{")) return false;
    while (!eat(p, "}")) {
        unsigned bit;
        if (!eat_string(p, key, sizeof key) || !eat(p, ":")) return false;
        if (strcmp(key, "descr") == 0) {
            bit = 1;
            h->fields = eat(p, "[");
            if (h->fields) return true; /* refused anyway */
            if (!eat_string(p, h->type, sizeof h->type)) return false;
        } else if (strcmp(key, "fortran_order") == 0) {
            bit = 2;
            h->fortran = eat(p, "True");
            if (!h->fortran && !eat(p, "False")) return false;
        } else if (strcmp(key, "shape") == 0) {
            bit = 4;
            if (!eat_shape(p, a)) return false;
        } else {
            return false;
        }
        if (seen & bit) return false;
        seen |= bit;
        if (eat(p, ",")) continue;
        if (!eat(p, "}")) return false;
        break;
    }
    *p += strspn(*p, " \t\r\n");
    return seen == 7 && **p == '\0';
}

static bool check_type(const header *h, npy *a, const report *to) {
    const char *big = h->type[0] == '>' ? "big-endian, " : "";
    for (int i = 0; i < 3 && h->type[0]; i++) {
        if (strcmp(h->type + 1, types[i].name) != 0 || !strchr("<=|", h->type[0])) continue;
        return a->type = types[i].letter, true;
    }
    return wrong(to, " holds %s'%s'; only floats '<f2', '<f4' and '<f8' can be read: save %s", big,
                 h->fields ? "[...]" : h->type,
                 h->fields ? "each field as an array of its own" : "x.astype('<f4') instead");
}

static bool get(FILE *f, void *out, size_t bytes, const char *part, const report *to) {
    if (fread(out, 1, bytes, f) == bytes) return true;
    if (ferror(f)) return wrong(to, ": %s", strerror(errno));
    return wrong(to, " ends within %s: it is damaged, save or copy it again", part);
}

static bool read_header(FILE *f, npy *a, size_t *bytes, const report *to) {
    unsigned char start[12];
    char text[HEADER_MOST + 1];
    header h = {0};
    const char *p = text;
    size_t got = fread(start, 1, 8, f);
    if (ferror(f)) return wrong(to, ": %s", strerror(errno));
    if (got < 8 || memcmp(start, "\x93NUMPY", 6) != 0)
        return wrong(to, " is not a .npy file: its first bytes are not those numpy.save writes (an "
                         ".npz holds several .npy files: unzip it)");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return wrong(to, " has .npy version %d.%d; 1.0, 2.0 and 3.0 can be read: save it again",
                     start[6], start[7]);
    size_t wide = start[6] == 1 ? 2 : 4, length = 0;
    if (!get(f, start + 8, wide, "its header", to)) return false;
    for (size_t i = wide; i-- > 0;) length = length << 8 | start[8 + i];
    if (length > HEADER_MOST)
        return wrong(to, " has a header of %zu bytes; up to %d can be read: save it again", length,
                     HEADER_MOST);
    if (!get(f, text, length, "its header", to)) return false;
    text[length] = '\0';
    bool good = eat_header(&p, &h, a);
    if (!h.fields && (!good || p != text + length))
        return wrong(to, " has a malformed header (its byte %zu): save it again with numpy.save",
                     8 + wide + (size_t)(p - text));
    if (!check_type(&h, a, to)) return false;
    if (h.fortran)
        return wrong(to, " is in Fortran order: save numpy.ascontiguousarray(x) instead");
    if (a->rank > NPY_RANK_MOST)
        return wrong(to, " has %zu axes; at most %d can be read: reshape it", a->rank,
                     NPY_RANK_MOST);
    *bytes = find_type(a->type)->bytes;
    if (!count_elements(a, *bytes))
        return wrong(to, " promises more elements than memory has addresses: its shape is damaged");
    *bytes *= a->count;
    return true;
}

static bool read_array(FILE *f, npy *a, const report *to) {
    struct stat st;
    size_t bytes;
    if (fstat(fileno(f), &st) != 0) return wrong(to, ": %s", strerror(errno));
    if (S_ISDIR(st.st_mode)) return wrong(to, " is a directory: name a .npy file in it");
    if (!read_header(f, a, &bytes, to)) return false;
    off_t here = S_ISREG(st.st_mode) ? ftello(f) : -1; /* a pipe has no size to compare with */
    if (here >= 0 && (uintmax_t)(st.st_size - here) < bytes)
        return wrong(to, " promises %zu bytes of data and holds %jd: save or copy it again", bytes,
                     (intmax_t)(st.st_size - here));
    a->data = malloc(bytes ? bytes : 1);
    if (!a->data) return wrong(to, ": out of memory for its %zu bytes", bytes);
    if (!get(f, a->data, bytes, "its data", to)) return false;
    if (getc(f) != EOF)
        return wrong(to, " goes on after the %zu bytes of its array: save one array a file", bytes);
    return !ferror(f) || wrong(to, ": %s", strerror(errno));
}

bool npy_read(const char *path, npy *out, char *error, size_t error_size) {
    report to = {path, error, error_size};
    *out = (npy){0};
    FILE *f = fopen(path, "rb");
    if (!f) return wrong(&to, ": cannot open it: %s", strerror(errno));
    bool ok = read_array(f, out, &to);
    fclose(f);
    if (!ok) npy_free(out);
    return ok;
}

void npy_free(npy *a) {
    free(a->data);
    *a = (npy){0};
}

static bool put(FILE *f, const npy *a, const struct type *type) {
    char shape[NPY_SHAPE_TEXT], dict[NPY_SHAPE_TEXT + 64];
    npy_shape_text(a, shape);
    int length =
        snprintf(dict, sizeof dict, "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }",
                 type->name, shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* the data start at a multiple of 64 */
    if (fprintf(f, "\x93NUMPY\x01%c%c%c", 0, padded & 255, padded >> 8) < 0) return false;
    if (fprintf(f, "%-*s\n", padded - 1, dict) < 0) return false;
    if (a->count && fwrite(a->data, type->bytes, a->count, f) != a->count) return false;
    return fflush(f) == 0 && fsync(fileno(f)) == 0;
}

/* A new file in the target's folder, for rename() works within one file system only. */
static FILE *create_beside(const char *target, char *temporary, size_t size) {
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash + 1 - target) : 0;
    FILE *f = NULL;
    for (int i = 0; !f && i < 100; i++) {
        snprintf(temporary, size, "%.*s.npy-%ld-%d.part", folder, target, (long)getpid(), i);
        f = fopen(temporary, "wbx");
        if (!f && errno != EEXIST) break;
    }
    return f;
}

/* Writes the first array, then has the others written, and renames only when that went well. */
static bool stage(const char *const *paths, const npy *arrays, size_t count, const char *target,
                  char *temporary, size_t size, char *error, size_t error_size) {
    report to = {*paths, error, error_size};
    const struct type *type = find_type(arrays->type);
    npy a = *arrays;
    struct stat st;
    bool exists = stat(target, &st) == 0;
    if (!type || a.rank > NPY_RANK_MOST || !count_elements(&a, type->bytes))
        return wrong(&to, ": type '%c' or its shape cannot be written", a.type);
    if (exists && !S_ISREG(st.st_mode))
        return wrong(&to, " exists and is not a regular file: name another to write");
    if (exists && access(target, W_OK) != 0)
        return wrong(&to, ": cannot write it: %s", strerror(errno));
    FILE *f = create_beside(target, temporary, size);
    if (!f) return wrong(&to, ": cannot create a file beside it: %s", strerror(errno));
    bool ok = (!exists || fchmod(fileno(f), st.st_mode & 0777) == 0) && put(f, &a, type);
    int why = errno;
    if (fclose(f) != 0 && ok) ok = false, why = errno;
    if (!ok) wrong(&to, ": cannot write it: %s", strerror(why));
    ok = ok && npy_write_all(paths + 1, arrays + 1, count - 1, error, error_size);
    if (ok && rename(temporary, target) != 0)
        ok = wrong(&to, ": cannot rename %s to it: %s", temporary, strerror(errno));
    if (!ok) remove(temporary);
    return ok;
}

bool npy_write_all(const char *const *paths, const npy *arrays, size_t count, char *error,
                   size_t error_size) {
    if (count == 0) return true;
    char *real = realpath(*paths, NULL); /* through a symbolic link, not over it */
    const char *target = real ? real : *paths;
    size_t size = strlen(target) + 64;
    char *temporary = malloc(size);
    bool ok = temporary && stage(paths, arrays, count, target, temporary, size, error, error_size);
    if (!temporary) snprintf(error, error_size, "%.200s: out of memory", *paths);
    free(temporary);
    free(real);
    return ok;
}

bool npy_write(const char *path, char type, size_t rank, const size_t *shape, const void *data,
               char *error, size_t error_size) {
    npy a = {.type = type, .rank = rank, .data = (void *)data};
    for (size_t i = 0; i < rank && i < NPY_RANK_MOST; i++) a.shape[i] = shape[i];
    return npy_write_all(&path, &a, 1, error, error_size);
}
