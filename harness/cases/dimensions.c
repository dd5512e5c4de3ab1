/* SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "base/random.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROW_FORWARD = 1 << FAMILY_ROW_FORWARD,
    ROW_BACKWARD = 1 << FAMILY_ROW_BACKWARD,
    BATCH_FORWARD = 1 << FAMILY_BATCH_FORWARD,
    BATCH_BACKWARD = 1 << FAMILY_BATCH_BACKWARD,
    INFER = 1 << FAMILY_INFERENCE,
    GATED_FORWARD = 1 << FAMILY_GATED_FORWARD,
    GATED_BACKWARD = 1 << FAMILY_GATED_BACKWARD,
    ROWS = ROW_FORWARD | ROW_BACKWARD,
    GATED = GATED_FORWARD | GATED_BACKWARD,
    BATCH = BATCH_FORWARD | BATCH_BACKWARD,
    BATCHES = BATCH | INFER,
    FORWARDS = ROW_FORWARD | BATCH_FORWARD | INFER | GATED_FORWARD,
    BACKWARDS = ROW_BACKWARD | BATCH_BACKWARD | GATED_BACKWARD,
    ALL = ROWS | BATCHES | GATED
};

enum { CLASSES_MAX = 10, ELEMENTS_MAX = 75000, USUAL_MAX = 12000, ROW_STREAMS = 64 };

#define INNER "inner={2,3,4,6,8,12,24,32,48,64}" /* divisors of 192 */

static const struct dimension {
    unsigned families;
    const char *name, *classes[CLASSES_MAX];
} dimensions[] = {
#include "cases/dimensions.inc"
};

enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

static const nl_pass passes[FAMILIES] = {NL_FORWARD,   NL_BACKWARD, NL_FORWARD, NL_BACKWARD,
                                         NL_INFERENCE, NL_FORWARD,  NL_BACKWARD};

enum { OPS_MOST = 4 };

/* A random stream, which depends on the seed. With `turns`, the alternatives of a class are taken
 * in turn, for each layer separately, so that none is missed. */
typedef struct draws {
    uint64_t stream, next;
    size_t (*turns)[CLASSES_MAX][OPS_MOST], turn;
} draws;

/* Returns a random number below count. */
static size_t draw(draws *d, size_t count) {
    return (size_t)(random_uniform(d->stream, d->next++) * (double)count);
}

/* Returns the end of an alternative: the next ',' or '}' outside inner braces. */
static const char *alternative_end(const char *text) {
    for (int depth = 0; depth || (*text != ',' && *text != '}'); text++)
        depth += (*text == '{') - (*text == '}');
    return text;
}

/* Writes a random number of the range "4..60+4". -1: `text` is not a range. */
static int draw_range(draws *d, const char *text, char *out, size_t size) {
    size_t first = 0, last = 0, step = 1;
    if (sscanf(text, "%zu..%zu+%zu", &first, &last, &step) < 2) return -1;
    return snprintf(out, size, "%zu", first + step * draw(d, (last - first) / step + 1));
}

/* Writes a class, up to its end or condition, with one alternative for each brace. */
static void draw_class(draws *d, const char *text, const char *end, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    while (text < end && *text && *text != ' ' && used + 1 < size) {
        if (*text != '{') {
            out[used++] = *text++, out[used] = '\0';
            continue;
        }
        const char *of[64];
        size_t count = 0;
        for (const char *at = text; *at != '}' || !count; at = alternative_end(at + 1))
            if (count < 63) of[count++] = at + 1;
        const char *chosen = of[d->turn % count], *stop = alternative_end(chosen);
        d->turn /= count;
        int length = draw_range(d, chosen, out + used, size - used);
        if (length < 0) {
            draw_class(d, chosen, stop, out + used, size - used);
            length = (int)strlen(out + used);
        }
        used += (size_t)length;
        text = alternative_end(of[count - 1]) + 1;
    }
}

static bool is_size(const struct dimension *m) {
    return strlen(m->name) == 1 && strchr("ncs", *m->name);
}

static size_t least(const struct dimension *m, size_t class) {
    return strtoull(m->classes[class] + (*m->classes[class] == '{'), NULL, 10);
}

/* A case under construction, while its classes are chosen. */
typedef struct draft {
    char op[20], dtype[8], shape[64], data[80], options[CASE_TEXT];
    size_t elements, most; /* the limit of n * c * s, unless the smallest sizes of the classes
                            * exceed it */
} draft;

static bool write_text(char *out, size_t size, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    const int length = vsnprintf(out, size, format, rest);
    va_end(rest);
    return length >= 0 && (size_t)length < size;
}

static bool spell(const draft *k, nl_pass pass, const char *more, char *text, size_t size) {
    return write_text(text, size, "%s/%s/%s/%s/%s%s%s%s", k->op, nl_pass_name(pass), k->dtype,
                      k->shape, k->data, k->options, *more ? "/" : "", more);
}

/* Adds the size `value`, reduced if it leaves no room for the sizes after it. */
static void add_size(draft *k, family f, const size_t *classes, size_t i, size_t value) {
    const bool batch = f == FAMILY_BATCH_FORWARD || f == FAMILY_BATCH_BACKWARD;
    const size_t from = least(&dimensions[i], classes[i]);
    size_t rest = k->elements;
    for (size_t next = i + 1; next < DIMENSIONS && is_size(&dimensions[next]); next++)
        if (dimensions[next].families & 1u << f) rest *= least(&dimensions[next], classes[next]);
    const size_t most = k->most / rest, limit = ELEMENTS_MAX / rest;
    if (value > most) value = most > from ? from + value % (most - from + 1) : from;
    size_t step = 1;
    sscanf(dimensions[i].classes[classes[i]], "{%*u..%*u+%zu", &step);
    if (value > from) value -= (value - from) % step; /* stays a multiple of inner= */
    if (value > limit) value = limit ? limit : 1;     /* the drawn classes contradict each other */
    if (batch && *dimensions[i].name == 's' && value == 1 && strncmp(k->shape, "1x", 2) == 0)
        value = 2; /* one value has no variance */
    k->elements *= value;
    const size_t used = strlen(k->shape);
    write_text(k->shape + used, sizeof k->shape - used, "%s%zu", used ? "x" : "", value);
}

/* Adds a class to the case. False: the other classes exclude this class. */
static bool add_class(draft *k, family f, const size_t *classes, size_t i, draws *d, char *error,
                      size_t error_size) {
    const struct dimension *m = &dimensions[i];
    const char *spelling = m->classes[classes[i]];
    char part[80], text[CASE_TEXT];
    nl_case c;
    d->turn = d->turns ? d->turns[i][classes[i]][classes[0] + classes[1]]++ : draw(d, 1 << 20);
    draw_class(d, spelling, spelling + strlen(spelling), part, sizeof part);
    /* gaps of 1000 after thousands of rows take seconds */
    if (strcmp(part, "gap=1000") == 0 && strtoull(k->shape, NULL, 10) > 8000)
        write_text(part, sizeof part, "gap=64");
    if (is_size(m)) return add_size(k, f, classes, i, strtoull(part, NULL, 10)), true;
    if (strcmp(m->name, "op") == 0) return write_text(k->op, sizeof k->op, "%s", part);
    if (strcmp(m->name, "dtype") == 0) return write_text(k->dtype, sizeof k->dtype, "%s", part);
    if (strcmp(m->name, "x") == 0) return write_text(k->data, sizeof k->data, "%s", part);
    if (!*part) return true;
    if (!spell(k, passes[f], part, text, sizeof text) || !case_parse(text, &c, error, error_size))
        return false;
    const size_t used = strlen(k->options);
    return write_text(k->options + used, sizeof k->options - used, "/%s", part);
}

/* Makes a family's case with these classes. shape: NULL, or replaces the sizes. Leaves out a
 * class that others exclude; with `whole`, such a class is an error. */
static bool compose(family f, const size_t *classes, const char *shape, bool whole, draws *d,
                    case_list *list, char *error, size_t error_size) {
    /* most sizes are small, to keep a check short; some are large enough for several threads */
    draft k = {.op = "batchnorm", .elements = 1, .most = draw(d, 24) ? USUAL_MAX : ELEMENTS_MAX};
    char text[CASE_TEXT];
    if (shape) write_text(k.shape, sizeof k.shape, "%s", shape);
    for (size_t i = 0; i < DIMENSIONS; i++)
        if (dimensions[i].families & 1u << f && !(shape && is_size(&dimensions[i])) &&
            !add_class(&k, f, classes, i, d, error, error_size) && whole)
            return false;
    return spell(&k, passes[f], "", text, sizeof text) && cases_add(list, text, error, error_size);
}

static size_t class_count(const struct dimension *m) {
    size_t count = 0;
    while (count < CLASSES_MAX && m->classes[count]) count++;
    return count;
}

/* Do the values of this class hide what other classes do to the output? */
static bool hides(const struct dimension *m, size_t class) {
    return strstr(m->classes[class], " !");
}

/* Adds a row of the covering array as cases. In one case, defaults replace all classes that hide
 * errors. Each other case keeps one of these classes. */
static bool add_row(family f, const size_t *classes, draws *d, case_list *list, char *error,
                    size_t error_size) {
    size_t seen[DIMENSIONS];
    const uint64_t first = d->next;
    for (size_t with = 0; with <= DIMENSIONS; with++) {
        const bool none = with == DIMENSIONS;
        if (!none &&
            !(dimensions[with].families & 1u << f && hides(&dimensions[with], classes[with])))
            continue;
        bool alone = true;
        for (size_t i = 0; i < DIMENSIONS; i++) {
            const bool hidden =
                i != with && dimensions[i].families & 1u << f && hides(&dimensions[i], classes[i]);
            seen[i] = hidden ? 0 : classes[i];
            alone = alone && !hidden;
        }
        d->next = first;
        /* leaves out an in-place option if the class that it needs became the default */
        if (!compose(f, seen, NULL, alone, d, list, error, error_size)) return false;
    }
    return true;
}

/* Does this spelling match one of the globs, separated by '|'? After a leading '!': does the
 * spelling match none of the globs? */
static bool matches(const char *globs, size_t length, const char *spelling) {
    const bool negated = *globs == '!';
    char copy[64], class[CASE_TEXT], *rest = copy;
    bool found = false;
    snprintf(class, sizeof class, "%.*s", (int)strcspn(spelling, " "), spelling);
    snprintf(copy, sizeof copy, "%.*s", (int)(length - negated), globs + negated);
    for (char *glob; (glob = strtok_r(rest, "|", &rest));)
        found = found || fnmatch(glob, class, 0) == 0;
    return found != negated;
}

/* Do the conditions of `class` allow class `spelling` of dimension `other`? */
static bool allows(const char *class, const struct dimension *other, const char *spelling) {
    const size_t name = strlen(other->name);
    for (const char *at = class; (at = strstr(at, " @")); at++)
        if (strncmp(at + 2, other->name, name) == 0 && at[2 + name] == '=' &&
            !matches(at + 3 + name, strcspn(at + 3 + name, " "), spelling))
            return false;
    return true;
}

/* The table and the dimensions of a family. */
typedef struct family_table {
    family f;
    size_t number[COVERING_DIMENSIONS];
    covering_table t;
} family_table;

static void family_classes(family f, family_table *k) {
    const char *spelling[COVERING_CLASSES];
    size_t of[COVERING_CLASSES], count = 0;
    *k = (family_table){.f = f, .t.most = ELEMENTS_MAX};
    for (size_t i = 0; i < DIMENSIONS; i++) {
        const struct dimension *m = &dimensions[i];
        if (!(m->families & 1u << f)) continue;
        k->number[k->t.dimensions] = i;
        k->t.first[k->t.dimensions++] = count;
        for (size_t class = 0; class < class_count(m); class ++, count++) {
            of[count] = i, spelling[count] = m->classes[class];
            k->t.factor[count] = is_size(m) ? least(m, class) : 1;
        }
    }
    k->t.first[k->t.dimensions] = count;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            if (!allows(spelling[a], &dimensions[of[b]], spelling[b]))
                k->t.apart[a][b] = k->t.apart[b][a] = true;
}

/* Keeps only class number `class` of a dimension. False: the family lacks the dimension. */
static bool keep_class(family_table *k, const char *name, size_t class) {
    size_t d = 0;
    while (d < k->t.dimensions && strcmp(dimensions[k->number[d]].name, name) != 0) d++;
    if (d == k->t.dimensions || k->t.first[d] + class >= k->t.first[d + 1]) return false;
    for (size_t a = k->t.first[d]; a < k->t.first[d + 1]; a++)
        for (size_t b = 0; a != k->t.first[d] + class && b < k->t.first[k->t.dimensions]; b++)
            k->t.apart[a][b] = k->t.apart[b][a] = true;
    return true;
}

/* Turns the rows of a family into cases. */
typedef struct rows {
    const family_table *k;
    draws d;
    uint64_t number;
    case_list *list;
    char *error;
    size_t error_size;
} rows;

static bool take_row(void *context, const size_t *row) {
    rows *r = context;
    size_t classes[DIMENSIONS] = {0};
    for (size_t d = 0; d < r->k->t.dimensions; d++)
        classes[r->k->number[d]] = row[d] - r->k->t.first[d];
    r->d.next = r->number++ * ROW_STREAMS;
    return add_row(r->k->f, classes, &r->d, r->list, r->error, r->error_size);
}

/* The first random stream of a seed. */
static uint64_t stream_of(uint64_t seed) {
    return ROW_STREAMS + seed * 2 * FAMILIES;
}

enum { OP = 1 << 0, DTYPE = 1 << 1 }; /* the first dimensions of the families with strides */

bool covering_cases(case_list *list, uint64_t seed, char *error, size_t error_size) {
    snprintf(error, error_size, "no memory for the covering array");
    const uint64_t stream = stream_of(seed);
    for (family f = 0; f < FAMILIES; f++) {
        size_t turns[DIMENSIONS][CLASSES_MAX][OPS_MOST] = {0};
        static family_table k;
        family_classes(f, &k);
        rows r = {&k, {.stream = stream + f, .turns = turns}, 0, list, error, error_size};
        if (!covering_make(&k.t, stream + FAMILIES + 1, take_row, &r)) return false;
        /* most rows so far have strides, which some kernels do not accept */
        k.t.with = OP | DTYPE;
        if (keep_class(&k, "strides", 0) &&
            !covering_make(&k.t, stream + FAMILIES + 1, take_row, &r))
            return false;
    }
    return true;
}

bool contiguous_cases(case_list *list, uint64_t seed, char *error, size_t error_size) {
    snprintf(error, error_size, "no memory for the covering array");
    const uint64_t stream = stream_of(seed);
    for (family f = 0; f < FAMILIES; f++) {
        size_t turns[DIMENSIONS][CLASSES_MAX][OPS_MOST] = {0};
        static family_table k;
        rows r = {&k, {.stream = stream + f, .turns = turns}, 1 << 20, list, error, error_size};
        for (size_t op = 0;; op++) {
            family_classes(f, &k);
            k.t.with = DTYPE;
            if (!keep_class(&k, "strides", 0) || !keep_class(&k, "op", op)) break;
            if (!covering_make(&k.t, stream + FAMILIES + 2, take_row, &r)) return false;
        }
    }
    return true;
}

bool drawn_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size) {
    size_t classes[DIMENSIONS];
    draws d = {.stream = stream_of(seed) + FAMILIES, .next = index * 2 * ROW_STREAMS};
    const family f = (family)draw(&d, FAMILIES);
    for (size_t i = 0; i < DIMENSIONS; i++) {
        const bool usual = !*dimensions[i].classes[0] && draw(&d, 3);
        classes[i] = usual ? 0 : draw(&d, class_count(&dimensions[i]));
    }
    return compose(f, classes, NULL, false, &d, list, error, error_size);
}

bool large_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size) {
    enum { HALVINGS = 4, LARGE_MAX = 1 << 18 };
    const family f = (family)(index % FAMILIES);
    const bool rows = (ROWS | GATED) & 1 << f;
    size_t classes[DIMENSIONS], size[3], elements = LARGE_MAX;
    char shape[64];
    draws d = {.stream = stream_of(seed) + FAMILIES + 3, .next = index * 2 * ROW_STREAMS};
    for (size_t i = 0; i < DIMENSIONS; i++) {
        const bool usual = !*dimensions[i].classes[0] && draw(&d, 2);
        /* the first kinds of x are the most revealing */
        const bool x = *dimensions[i].name == 'x' && draw(&d, 2);
        classes[i] = usual ? 0 : draw(&d, x ? 2 : class_count(&dimensions[i]));
        if (hides(&dimensions[i], classes[i])) classes[i] = 0;
    }
    const size_t few = (size_t)1 << draw(&d, rows ? 4 : 3), large = draw(&d, rows ? 2 : 3);
    for (size_t i = 0; i < 3; i++) {
        size[i] = i == 2 && rows ? 1 : 1 + draw(&d, few);
        elements /= i == large ? (size_t)1 << draw(&d, HALVINGS) : size[i];
    }
    size[large] = elements + draw(&d, 16);
    if (!rows && size[0] * size[2] == 1) size[0] = 2; /* one value has no variance */
    write_text(shape, sizeof shape, rows ? "%zux%zu" : "%zux%zux%zu", size[0], size[1], size[2]);
    return compose(f, classes, shape, false, &d, list, error, error_size);
}

/* Draws classes that hide no errors. About two of three dimensions get their usual, first class. */
static void draw_classes(draws *d, size_t *classes) {
    for (size_t i = 0; i < DIMENSIONS; i++) {
        const bool usual = !*dimensions[i].classes[0] && draw(d, 3);
        classes[i] = usual ? 0 : draw(d, class_count(&dimensions[i]));
        if (hides(&dimensions[i], classes[i])) classes[i] = 0;
    }
}

/* Adds a case of one shape for each class of model_cases(); draws the other dimensions. */
static bool add_model(family f, const char *shape, draws *d, case_list *list, char *error,
                      size_t error_size) {
    for (size_t with = 0; with < DIMENSIONS; with++) {
        if (!(dimensions[with].families & 1u << f) || is_size(&dimensions[with])) continue;
        for (size_t class = 1; class < class_count(&dimensions[with]); class ++) {
            size_t classes[DIMENSIONS];
            if (hides(&dimensions[with], class)) continue;
            draw_classes(d, classes);
            classes[with] = class;
            if (!compose(f, classes, shape, false, d, list, error, error_size)) return false;
        }
    }
    return true;
}

/* Adds cases of about 2^19 to 2^22 elements: a model's width, and rows that inner= divides. */
static bool add_many_rows(family f, draws *d, case_list *list, char *error, size_t error_size) {
    enum { MANY = 8, ROWS_OF_VIEWS = 192 };
    static const size_t widths[] = {64, 128, 256, 384, 768, 1024, 2048, 4096, 5120, 8192};
    for (int i = 0; i < MANY; i++) {
        const size_t c = widths[draw(d, sizeof widths / sizeof *widths)];
        const size_t views = ((size_t)1 << (19 + draw(d, 4))) / c / ROWS_OF_VIEWS;
        size_t classes[DIMENSIONS];
        char shape[64];
        draw_classes(d, classes);
        write_text(shape, sizeof shape, "%zux%zu", (views ? views : 1) * ROWS_OF_VIEWS, c);
        if (!compose(f, classes, shape, false, d, list, error, error_size)) return false;
    }
    return true;
}

bool model_cases(case_list *list, uint64_t seed, char *error, size_t error_size) {
    static const char *const pictures[] = {"32x64x49",  "2x64x784", "3x5x3136", "4x16x196",
                                           "2x3x12544", "64x256",   "33x1024"};
    draws d = {.stream = stream_of(seed) + FAMILIES + 2};
    for (int again = 0; again < 2; again++)
        for (const char *width = MODELS; *width++ != '}'; width += strcspn(width, ",}"))
            for (family f = 0; f < FAMILIES; f++) {
                char shape[64];
                if (!((ROWS | GATED) & 1 << f)) continue;
                write_text(shape, sizeof shape, "%zux%zu", 1 + draw(&d, 5),
                           (size_t)strtoull(width, NULL, 10));
                if (!add_model(f, shape, &d, list, error, error_size)) return false;
            }
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        for (family f = FAMILY_BATCH_FORWARD; f <= FAMILY_INFERENCE; f++)
            if (!add_model(f, pictures[i], &d, list, error, error_size)) return false;
    return add_many_rows(FAMILY_ROW_FORWARD, &d, list, error, error_size) &&
           add_many_rows(FAMILY_ROW_BACKWARD, &d, list, error, error_size);
}
