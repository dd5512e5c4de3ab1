/* The spelling of cases: braces are expanded first, as text, then each result is parsed.
 * SPDX-License-Identifier: MIT */
#include "case.h"
#include "data.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MOST = 1000000 };

bool op_from_name(const char *name, nl_op *op) {
    static const struct {
        const char *name;
        nl_op op;
    } names[] = {{"batchnorm", NL_BATCHNORM}, {"layernorm", NL_LAYERNORM},
                 {"rmsnorm", NL_RMSNORM},     {"qwen2_rmsnorm", NL_QWEN2_RMSNORM},
                 {"gemma", NL_QWEN2_RMSNORM}, {"qwen3next", NL_QWEN2_RMSNORM}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0) return *op = names[i].op, true;
    return false;
}

static bool find_name(const char *text, const char *(*name)(int), int count, int *found) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, name(i)) == 0) return *found = i, true;
    return false;
}

static const char *pass_name(int i) {
    return nl_pass_name((nl_pass)i);
}

static const char *dtype_name(int i) {
    return nl_dtype_name((nl_dtype)i);
}

static bool parse_size(const char **text, size_t *out) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    errno = 0;
    unsigned long long v = strtoull(*text, &end, 10);
    if (errno || v > SIZE_MAX) return false;
    *out = (size_t)v, *text = end;
    return true;
}

static bool parse_shape(const char *text, nl_problem *p) {
    p->s = 1;
    if (!parse_size(&text, &p->n) || *text++ != 'x' || !parse_size(&text, &p->c)) return false;
    if (*text == 'x') {
        text++;
        if (!parse_size(&text, &p->s)) return false;
    }
    return *text == '\0';
}

static bool parse_number(const char *text, float *out) {
    char *end;
    *out = strtof(text, &end);
    return end != text && *end == '\0';
}

static bool parse_option(const char *text, nl_case *c) {
    if (strcmp(text, "residual") == 0) return c->residual = true;
    if (strcmp(text, "in-place") == 0) return c->in_place = true;
    if (strcmp(text, "no-affine") == 0) return c->no_affine = true;
    if (strcmp(text, "cast-before-weight") == 0)
        return c->problem.casting = NL_CAST_BEFORE_WEIGHT, true;
    if (strcmp(text, "biased-running-var") == 0) return c->problem.biased_running_var = true;
    if (strncmp(text, "eps=", 4) == 0) return parse_number(text + 4, &c->problem.eps);
    if (strncmp(text, "momentum=", 9) == 0) return parse_number(text + 9, &c->problem.momentum);
    return false;
}

/* Cuts the next component off *rest; one that begins "npy:" reaches to its ".npy". */
static char *component(char **rest) {
    char *start = *rest, *from = start;
    if (!start) return NULL;
    if (strncmp(start, "npy:", 4) == 0)
        for (char *end = start; (end = strstr(end, ".npy")); end += 4)
            if (end[4] == '/' || end[4] == '\0') {
                from = end;
                break;
            }
    char *slash = strchr(from, '/');
    *rest = slash ? slash + 1 : NULL;
    if (slash) *slash = '\0';
    return start;
}

bool case_parse(const char *text, nl_case *out, char *error, size_t error_size) {
    nl_case c = {.problem = {.eps = 1e-5f, .momentum = 0.1f, .s = 1}};
    char copy[CASE_TEXT], *rest = copy;
    const char *wrong = NULL, *should = NULL;
    int found;
    if (strlen(text) >= sizeof copy) {
        snprintf(error, error_size, "a case is at most %d characters long", CASE_TEXT - 1);
        return false;
    }
    strcpy(copy, text);
    strcpy(c.text, text);
    char *op = component(&rest), *pass = component(&rest), *dtype = component(&rest);
    char *shape = component(&rest), *data = component(&rest);

    if (!data) {
        wrong = text,
        should = "op/pass/dtype/NxC[xS]/data, as layernorm/forward/f32/64x1024/normal";
    } else if (!op_from_name(op, &c.problem.op)) {
        wrong = op,
        should = "batchnorm, layernorm, rmsnorm or qwen2_rmsnorm (alias gemma, qwen3next)";
    } else if (!find_name(pass, pass_name, 3, &found)) {
        wrong = pass, should = "forward, backward or inference";
    } else if (c.problem.pass = (nl_pass)found, !find_name(dtype, dtype_name, 3, &found)) {
        wrong = dtype, should = "f32, f16 or bf16";
    } else if (c.problem.dtype = (nl_dtype)found,
               strcmp(shape, "file") != 0 && !parse_shape(shape, &c.problem)) {
        wrong = shape, should = "NxC or NxCxS, as 64x1024, or `file` for npy data";
    } else if (strlen(data) >= sizeof c.data || !data_known(data)) {
        wrong = data, should = data_kinds();
    }
    if (wrong) {
        snprintf(error, error_size, "case %s: '%s' should be %s", text, wrong, should);
        return false;
    }
    strcpy(c.data, data);
    c.options = rest ? (size_t)(rest - copy) : strlen(text);
    for (char *option; (option = component(&rest));) {
        if (parse_option(option, &c)) continue;
        snprintf(error, error_size,
                 "case %s: option '%s' should be residual, in-place, no-affine, "
                 "cast-before-weight, biased-running-var, eps=E or momentum=M",
                 text, option);
        return false;
    }
    if (strcmp(shape, "file") == 0 && !data_file_shape(&c, error, error_size)) return false;
    *out = c;
    return true;
}

static bool add_one(case_list *list, const char *text, char *error, size_t error_size) {
    if (list->count >= CASES_MOST) {
        snprintf(error, error_size, "more than %d cases: narrow the braces", CASES_MOST);
        return false;
    }
    if ((list->count & (list->count - 1)) == 0) { /* full at every power of two */
        size_t room = list->count ? 2 * list->count : 1;
        nl_case *more = realloc(list->items, room * sizeof *more);
        if (!more) return snprintf(error, error_size, "out of memory"), false;
        list->items = more;
    }
    if (!case_parse(text, &list->items[list->count], error, error_size)) return false;
    list->count++;
    return true;
}

static bool expand(case_list *list, const char *text, char *error, size_t error_size);

/* head + one alternative + tail, expanded further. */
static bool expand_with(case_list *list, const char *head, size_t head_length, const char *middle,
                        size_t middle_length, const char *tail, char *error, size_t error_size) {
    char whole[CASE_TEXT];
    int length = snprintf(whole, sizeof whole, "%.*s%.*s%s", (int)head_length, head,
                          (int)middle_length, middle, tail);
    if (length < 0 || (size_t)length >= sizeof whole) {
        snprintf(error, error_size, "a case is at most %d characters long", CASE_TEXT - 1);
        return false;
    }
    return expand(list, whole, error, error_size);
}

/* "128..8192*2": first, last and step, if the alternative is a range. */
static bool parse_range(const char *text, size_t length, size_t *first, size_t *last, char *how,
                        size_t *step) {
    char copy[64];
    const char *p = copy;
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *how = '+', *step = 1;
    if (!parse_size(&p, first) || strncmp(p, "..", 2) != 0) return false;
    p += 2;
    if (!parse_size(&p, last)) return false;
    if (*p == '\0') return true;
    *how = *p++;
    return (*how == '*' || *how == '+') && parse_size(&p, step) && *p == '\0' &&
           *step >= (*how == '*' ? 2u : 1u) && (*how == '+' || *first > 0);
}

static bool expand(case_list *list, const char *text, char *error, size_t error_size) {
    const char *open = strchr(text, '{');
    if (!open) return add_one(list, text, error, error_size);
    const char *close = open, *comma;
    for (int depth = 0; *close; close++) {
        depth += (*close == '{') - (*close == '}');
        if (depth == 0) break;
    }
    if (!*close) return snprintf(error, error_size, "case %s: '{' without '}'", text), false;
    for (const char *item = open + 1; item <= close; item = comma + 1) {
        comma = item;
        for (int depth = 0; comma < close && (depth || *comma != ','); comma++)
            depth += (*comma == '{') - (*comma == '}');
        size_t head = (size_t)(open - text), length = (size_t)(comma - item), first, last, step;
        char how, number[32];
        if (!parse_range(item, length, &first, &last, &how, &step)) {
            if (!expand_with(list, text, head, item, length, close + 1, error, error_size))
                return false;
            continue;
        }
        for (size_t v = first; v <= last;) {
            int digits = snprintf(number, sizeof number, "%zu", v);
            if (!expand_with(list, text, head, number, (size_t)digits, close + 1, error,
                             error_size))
                return false;
            if (how == '*' ? v > last / step : v > SIZE_MAX - step) break;
            v = how == '*' ? v * step : v + step;
        }
    }
    return true;
}

bool cases_add(case_list *list, const char *spelling, char *error, size_t error_size) {
    return expand(list, spelling, error, error_size);
}

bool cases_add_file(case_list *list, const char *path, char *error, size_t error_size) {
    char line[1024], why[600];
    FILE *f = fopen(path, "r");
    if (!f) {
        snprintf(error, error_size, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, f); number++) {
        line[strcspn(line, "#\r\n")] = '\0';
        char *start = line + strspn(line, " \t");
        start[strcspn(start, " \t")] = '\0';
        if (!*start) continue;
        ok = cases_add(list, start, why, sizeof why);
        if (!ok) snprintf(error, error_size, "%s:%d: %s", path, number, why);
    }
    fclose(f);
    return ok;
}

void cases_free(case_list *list) {
    free(list->items);
    *list = (case_list){0};
}

size_t case_state_bytes(const nl_case *c) {
    const nl_problem *p = &c->problem;
    if (p->pass == NL_INFERENCE) return 0;
    if (p->op == NL_BATCHNORM) return 2 * p->c * sizeof(float);
    return (p->op == NL_LAYERNORM ? 2 : 1) * p->n * sizeof(float);
}

size_t case_bytes(const nl_case *c) {
    const nl_problem *p = &c->problem;
    size_t tensor = p->n * p->c * p->s * nl_dtype_bytes(p->dtype), vector = p->c * sizeof(float);
    size_t gains = c->no_affine ? 0 : vector, running = p->op == NL_BATCHNORM ? 2 * vector : 0;
    bool centred = p->op == NL_BATCHNORM || p->op == NL_LAYERNORM;
    if (p->pass == NL_BACKWARD) /* x, dy, gamma, statistics in; dx, dgamma, dbeta out */
        return 3 * tensor + gains + case_state_bytes(c) + (centred ? 2 : 1) * vector;
    size_t bytes = (c->residual ? 4 : 2) * tensor + (centred ? 2 : 1) * gains;
    return bytes + case_state_bytes(c) + (p->pass == NL_FORWARD ? 2 : 1) * running;
}
