/* The spelling of one case. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "cases/data.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool parse_size(const char **text, size_t *out) {
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

static bool parse_count(const char *text, size_t least, size_t most, size_t *out) {
    return parse_size(&text, out) && *text == '\0' && *out >= least && *out <= most;
}

static bool parse_option(const char *text, nl_case *c) {
    size_t count;
    if (strcmp(text, "rotating") == 0) return c->cache = CACHE_ROTATING, true;
    if (strcmp(text, "streaming") == 0) return c->streaming = true;
    if (strcmp(text, "cold") == 0) return c->cache = CACHE_COLD, true;
    if (strncmp(text, "skew=", 5) == 0)
        return parse_count(text + 5, 0, 65536, &c->skew) && c->skew % 4 == 0;
    if (strncmp(text, "threads=", 8) == 0) {
        if (!parse_count(text + 8, 1, 4096, &count)) return false;
        return c->threads = (int)count, true;
    }
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
                 "cast-before-weight, biased-running-var, eps=E, momentum=M, threads=N, streaming, "
                 "rotating, "
                 "cold or skew=BYTES (a multiple of 4)",
                 text, option);
        return false;
    }
    if (c.residual && c.problem.op == NL_BATCHNORM) {
        snprintf(error, error_size, "case %s: only the row norms take a residual", text);
        return false;
    }
    if (strcmp(shape, "file") == 0 && !data_file_shape(&c, error, error_size)) return false;
    *out = c;
    return true;
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
        return (c->residual ? 4 : 3) * tensor + gains + case_state_bytes(c) +
               (centred ? 2 : 1) * vector;
    size_t bytes = (c->residual ? 4 : 2) * tensor + (centred ? 2 : 1) * gains;
    return bytes + case_state_bytes(c) + (p->pass == NL_FORWARD ? 2 : 1) * running;
}
