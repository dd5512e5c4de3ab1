/* SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "dtype.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are not byte-swapped");

static const npy_type types[] = {{'e', "f2", "f16", 2, NL_F16},
                                 {'f', "f4", "f32", 4, NL_F32},
                                 {'d', "f8", "f64", 8, NL_F32},
                                 {'E', "V2", "bf16", 2, NL_BF16}};
enum { TYPES = sizeof types / sizeof *types };

const npy_type *npy_type_of(char letter) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].letter == letter) return &types[i];
    return NULL;
}

const npy_type *npy_type_named(const char *name) {
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

double npy_value(const npy *a, size_t i) {
    if (a->type == 'd') return ((const double *)a->data)[i];
    return nl_load(npy_type_of(a->type)->dtype, a->data, i);
}

/* As in NumPy, the product of the axes that are not 0 must fit in memory, even if an axis is 0. */
bool npy_count(npy *a, size_t bytes_each) {
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

void npy_free(npy *a) {
    free(a->data);
    *a = (npy){0};
}

bool npy_wrong(const npy_errors *to, const char *format, ...) {
    va_list rest;
    int n = snprintf(to->text, to->size, "%.200s", to->path);
    va_start(rest, format);
    if (n >= 0 && (size_t)n < to->size) vsnprintf(to->text + n, to->size - (size_t)n, format, rest);
    va_end(rest);
    return false;
}

enum { HEADER_MAX = 10000 }; /* NumPy's own limit */

static bool eat(const char **p, const char *token) {
    size_t length = strlen(token);
    *p += strspn(*p, " \t\r\n");
    if (strncmp(*p, token, length) != 0) return false;
    *p += length;
    return true;
}

/* 'text' or "text"; a character that is not printable becomes '?'. */
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

/* Counts axes beyond NPY_RANK_MAX without storing them; clamps a number that is too large. */
static bool eat_shape(const char **p, npy *a) {
    if (!eat(p, "(")) return false;
    while (!eat(p, ")")) {
        size_t length = 0;
        if (!isdigit((unsigned char)**p)) return false;
        for (; isdigit((unsigned char)**p); ++*p) {
            const size_t digit = (size_t)(**p - '0');
            length = length > (SIZE_MAX - digit) / 10 ? SIZE_MAX : 10 * length + digit;
        }
        eat(p, "L"); /* Python 2 wrote an L behind long integers */
        if (a->rank < NPY_RANK_MAX) a->shape[a->rank] = length;
        a->rank++;
        if (!eat(p, ",")) return a->rank > 1 && eat(p, ")"); /* (3) is no tuple, (3,) is */
    }
    return true;
}

typedef struct header {
    char type[32];
    bool fields, fortran; /* fields: the type is a list of fields */
} header;

/* Parses each of the three keys exactly once, in any order; false: malformed at *p. */
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
            if (h->fields) return true; /* the caller refuses such a type */
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

static bool check_type(const header *h, npy *a, const npy_errors *to) {
    const char *big = h->type[0] == '>' ? "big-endian, " : "";
    const npy_type *type = h->type[0] ? npy_type_named(h->type + 1) : NULL;
    if (type && strchr("<=|", h->type[0])) return a->type = type->letter, true;
    return npy_wrong(to,
                     " holds %s'%s'; only floats '<f2', '<f4', '<f8' and ml_dtypes' "
                     "bfloat16, '<V2', can be read: save %s",
                     big, h->fields ? "[...]" : h->type,
                     h->fields ? "each field as an array of its own" : "x.astype('<f4') instead");
}

static bool get(FILE *f, void *out, size_t bytes, const char *part, const npy_errors *to) {
    if (fread(out, 1, bytes, f) == bytes) return true;
    if (ferror(f)) return npy_wrong(to, ": %s", strerror(errno));
    return npy_wrong(to, " ends within %s: it is damaged, save or copy it again", part);
}

static bool read_header(FILE *f, npy *a, size_t *bytes, const npy_errors *to) {
    unsigned char start[12];
    char text[HEADER_MAX + 1];
    header h = {0};
    const char *p = text;
    size_t got = fread(start, 1, 8, f);
    if (ferror(f)) return npy_wrong(to, ": %s", strerror(errno));
    if (got < 8 || memcmp(start, "\x93NUMPY", 6) != 0)
        return npy_wrong(to,
                         " is not a .npy file: its first bytes are not those numpy.save writes");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return npy_wrong(to, " has .npy version %d.%d; 1.0, 2.0 and 3.0 can be read: save it again",
                         start[6], start[7]);
    size_t wide = start[6] == 1 ? 2 : 4, length = 0;
    if (!get(f, start + 8, wide, "its header", to)) return false;
    for (size_t i = wide; i-- > 0;) length = length << 8 | start[8 + i];
    if (length > HEADER_MAX)
        return npy_wrong(to, " has a header of %zu bytes; up to %d can be read: save it again",
                         length, HEADER_MAX);
    if (!get(f, text, length, "its header", to)) return false;
    text[length] = '\0';
    bool good = eat_header(&p, &h, a);
    if (!h.fields && (!good || p != text + length))
        return npy_wrong(to,
                         " has a malformed header (byte %zu): save the array again with numpy.save",
                         8 + wide + (size_t)(p - text));
    if (!check_type(&h, a, to)) return false;
    if (h.fortran)
        return npy_wrong(to, " is in Fortran order: save numpy.ascontiguousarray(x) instead");
    if (a->rank > NPY_RANK_MAX)
        return npy_wrong(to, " has %zu axes; at most %d can be read: reshape it", a->rank,
                         NPY_RANK_MAX);
    *bytes = npy_type_of(a->type)->bytes;
    if (!npy_count(a, *bytes))
        return npy_wrong(to,
                         " declares more elements than memory has addresses: its shape is damaged");
    *bytes *= a->count;
    return true;
}

static bool read_array(FILE *f, npy *a, const npy_errors *to) {
    struct stat st;
    size_t bytes;
    if (fstat(fileno(f), &st) != 0) return npy_wrong(to, ": %s", strerror(errno));
    if (S_ISDIR(st.st_mode)) return npy_wrong(to, " is a directory: name a .npy file in it");
    if (!read_header(f, a, &bytes, to)) return false;
    off_t here = S_ISREG(st.st_mode) ? ftello(f) : -1; /* a pipe has no size to compare with */
    const int64_t left = (int64_t)st.st_size - here;
    if (here >= 0 && (left < 0 || (uint64_t)left < bytes))
        return npy_wrong(to, " should hold %zu bytes of data, but holds %jd: save or copy it again",
                         bytes, (intmax_t)(left < 0 ? 0 : left));
    a->data = malloc(bytes ? bytes : 1);
    if (!a->data) return npy_wrong(to, ": out of memory for its %zu bytes", bytes);
    if (!get(f, a->data, bytes, "its data", to)) return false;
    if (getc(f) != EOF)
        return npy_wrong(to, " continues after the %zu bytes of its array: save one array per file",
                         bytes);
    return !ferror(f) || npy_wrong(to, ": %s", strerror(errno));
}

bool npy_read(const char *path, npy *out, char *error, size_t error_size) {
    npy_errors to = {path, error, error_size};
    *out = (npy){0};
    FILE *f = fopen(path, "rb");
    if (!f) return npy_wrong(&to, ": cannot open it: %s", strerror(errno));
    bool ok = read_array(f, out, &to);
    fclose(f);
    if (!ok) npy_free(out);
    return ok;
}
