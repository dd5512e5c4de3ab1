/* The spelling of one case. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "base/npy.h"
#include "cases/museum.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned case_args(const nl_case *c) {
    unsigned args = nl_takes(c->problem.op, c->problem.pass) & ~c->absent;
    if (!c->residual) args &= ~(NL_BIT(NL_RESIDUAL) | NL_BIT(NL_RESIDUAL_OUT));
    return args;
}

const nl_impl *case_best(const nl_case *c, int threads) {
    nl_problem p = c->problem;
    if (c->in_place && p.stores != NL_STORES_STREAMING) p.stores = NL_STORES_IN_PLACE;
    return nl_best(&p, threads);
}

bool case_is_exact(const nl_case *c) {
    bool all = c->kind[NL_X].exact;
    for (nl_arg a = 0; a < NL_ARGS; a++) all = all && (a == NL_X || !c->kind[a].value);
    return all;
}

bool case_is_random(const nl_case *c) {
    bool all = !*c->data || c->kind[NL_X].random; /* an empty name: the user's own arrays */
    for (nl_arg a = 0; a < NL_ARGS; a++) all = all && (!c->kind[a].value || c->kind[a].random);
    return all;
}

nl_arg case_output_over(const nl_case *c, nl_arg input) {
    const unsigned outputs = case_args(c) & nl_passes[c->problem.pass].writes;
    nl_arg a = 0;
    while (a < NL_ARGS && !(outputs & NL_BIT(a) && nl_args[a].replaces & NL_BIT(input))) a++;
    return a;
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
    return end != text && *end == '\0' && isfinite(*out);
}

static bool parse_count(const char *text, size_t least, size_t most, size_t *out) {
    return parse_size(&text, out) && *text == '\0' && *out >= least && *out <= most;
}

/* While a case is parsed, this value stands for `in-place` without an input's name. */
enum { WHOLE = NL_BIT(NL_ARGS) };

static bool parse_arg(const char *name, nl_pass pass, unsigned *args) {
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (strcmp(name, nl_arg_name(a, pass)) == 0) return *args |= NL_BIT(a), true;
    return false;
}

/* Returns the argument whose name ends at `end`, or NL_ARGS if there is none. */
static nl_arg arg_before(const char *name, const char *end, nl_pass pass) {
    const size_t length = (size_t)(end - name);
    nl_arg a = 0;
    while (a < NL_ARGS && (strncmp(name, nl_arg_name(a, pass), length) != 0 ||
                           nl_arg_name(a, pass)[length] != '\0'))
        a++;
    return a;
}

/* Parses "skew=4" for all outputs, or "skew-gamma=4". A buffer stays aligned to its elements. */
static bool parse_skew(const char *text, nl_case *c) {
    const char *value = strchr(text, '=');
    size_t bytes;
    if (!value || !parse_count(value + 1, 0, 65536, &bytes)) return false;
    if (value == text) {
        for (nl_arg a = NL_Y; a <= NL_DBETA; a++) c->skew[a] = (unsigned)bytes;
        if (nl_layers[c->problem.op].gate) c->skew[NL_DGATE] = (unsigned)bytes;
        return bytes % 4 == 0;
    }
    const nl_arg a = arg_before(text + 1, value, c->problem.pass);
    if (*text != '-' || a == NL_ARGS) return false;
    c->skew[a] = (unsigned)bytes;
    return bytes % (nl_args[a].extent == NL_TENSOR ? nl_dtype_size(c->problem.dtype) : 4) == 0;
}

/* Parses "gap=4" for the rows of all tensors, or "gap-x=4" for the rows of x. */
static bool parse_gap(const char *text, size_t gap[NL_ARGS], nl_pass pass) {
    const char *value = strchr(text, '=');
    size_t elements;
    if (!value || !parse_count(value + 1, 0, 1 << 20, &elements)) return false;
    const nl_arg named = value == text ? NL_ARGS : arg_before(text + 1, value, pass);
    if (value != text && (*text != '-' || named == NL_ARGS)) return false;
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (nl_args[a].extent == NL_TENSOR && (value == text || a == named)) gap[a] = elements;
    return value == text || nl_args[named].extent == NL_TENSOR;
}

/* Returns the strides between rows, and between the groups of `inner` rows. */
static nl_stride stride_of(const nl_case *c, nl_arg a) {
    const nl_problem *p = &c->problem;
    const size_t row = p->c + c->gap[a];
    return (nl_stride){row, p->inner ? p->inner * row + c->outer_gap[a] : 0};
}

static bool has_gaps(const nl_case *c) {
    size_t all = c->problem.inner;
    for (nl_arg a = 0; a < NL_ARGS; a++) all |= c->gap[a] | c->outer_gap[a];
    return all;
}

static void settle_strides(nl_case *c) {
    nl_problem *p = &c->problem;
    if (!has_gaps(c)) return;
    const bool gated = nl_layers[p->op].gate;
    p->x_stride = stride_of(c, NL_X), p->dy_stride = stride_of(c, NL_DY);
    p->residual_stride = stride_of(c, gated ? NL_GATE : NL_RESIDUAL);
    p->residual_out_stride = stride_of(c, gated ? NL_DGATE : NL_RESIDUAL_OUT);
    p->y_stride = stride_of(c, p->pass == NL_BACKWARD ? NL_DX : NL_Y);
}

/* Returns why the strides contradict the rest of the case, or NULL. */
static const char *wrong_strides(const nl_case *c) {
    const nl_problem *p = &c->problem;
    if (!has_gaps(c)) return NULL;
    if (nl_layers[p->op].by_channel) return "gaps and inner= need a layer that normalizes rows";
    if (!c->kind[NL_X].value) return "data of a file cannot have gaps between rows";
    if (p->inner && p->n % p->inner) return "the number of rows must be a multiple of inner=";
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (c->outer_gap[a] && !p->inner) return "outer-gap needs inner=ROWS";
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        const nl_arg out = c->in_place & NL_BIT(a) ? case_output_over(c, a) : a;
        if (out != NL_ARGS && (c->gap[out] != c->gap[a] || c->outer_gap[out] != c->outer_gap[a]))
            return "in place, input and output need the same gaps";
    }
    return NULL;
}

/* Parses an input's data: "gamma=scale:1e30". "residual=..." also sets the option `residual`. */
static bool parse_values(const char *text, nl_case *c) {
    const char *value = strchr(text, '=');
    const nl_pass pass = c->problem.pass;
    const nl_arg a = value ? arg_before(text, value, pass) : NL_ARGS;
    const unsigned given = NL_BIT(NL_X) | NL_BIT(NL_MEAN) | NL_BIT(NL_RSTD);
    if (a == NL_ARGS ||
        !(nl_takes(c->problem.op, pass) & nl_passes[pass].reads & ~given & NL_BIT(a)))
        return false;
    if (a == NL_RESIDUAL) c->residual = true;
    return kind_find(value + 1, &c->kind[a]) && c->kind[a].value && !museum_find(value + 1);
}

static bool parse_option(const char *text, nl_case *c) {
    nl_problem *p = &c->problem;
    size_t count;
    if (strcmp(text, "rotating") == 0) return c->cache = CACHE_ROTATING, true;
    if (strcmp(text, "streaming") == 0) return c->streaming = true;
    if (strcmp(text, "cold") == 0) return c->cache = CACHE_COLD, true;
    if (strncmp(text, "skew", 4) == 0) return parse_skew(text + 4, c);
    if (strncmp(text, "gap", 3) == 0) return parse_gap(text + 3, c->gap, p->pass);
    if (strncmp(text, "outer-gap", 9) == 0) return parse_gap(text + 9, c->outer_gap, p->pass);
    if (strncmp(text, "inner=", 6) == 0) return parse_count(text + 6, 1, 1 << 20, &p->inner);
    if (strncmp(text, "parameters=", 11) == 0)
        return dtype_from_name(text + 11, &p->parameters) && p->parameters == p->dtype;
    if (strcmp(text, "rounded-sum") == 0) return p->sum = NL_SUM_ROUNDED, true;
    if (strncmp(text, "team=", 5) == 0) {
        if (!parse_count(text + 5, 1, 4096, &count)) return false;
        return c->team = (int)count, true;
    }
    if (strncmp(text, "threads=", 8) == 0) {
        if (!parse_count(text + 8, 1, 4096, &count)) return false;
        return c->threads = (int)count, true;
    }
    if (strcmp(text, "residual") == 0) return c->residual = true;
    if (strcmp(text, "in-place") == 0) return c->in_place |= WHOLE, true;
    if (strncmp(text, "in-place=", 9) == 0) return parse_arg(text + 9, p->pass, &c->in_place);
    if (strcmp(text, "no-affine") == 0)
        return c->absent |= nl_takes(p->op, p->pass) & (NL_BIT(NL_GAMMA) | NL_BIT(NL_BETA)), true;
    if (strncmp(text, "no-", 3) == 0) return parse_arg(text + 3, p->pass, &c->absent);
    if (strcmp(text, "stores=cached") == 0) return p->stores = NL_STORES_CACHED, true;
    if (strcmp(text, "stores=streaming") == 0) return p->stores = NL_STORES_STREAMING, true;
    if (strcmp(text, "cast-before-weight") == 0) return p->casting = NL_CAST_BEFORE_WEIGHT, true;
    if (strcmp(text, "biased-running-var") == 0) return p->biased_running_var = true;
    if (strncmp(text, "gain=", 5) == 0) return parse_number(text + 5, &c->gain);
    if (strncmp(text, "eps=", 4) == 0) return parse_number(text + 4, &p->eps);
    if (strncmp(text, "momentum=", 9) == 0) return parse_number(text + 9, &p->momentum);
    return parse_values(text, c);
}

/* Cuts the next component off *rest. A component "npy:FILE.npy" may contain slashes. */
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

/* Are all arguments `named` by the option also `allowed`? If not, error lists the allowed ones. */
static bool check_args(const nl_case *c, const char *option, unsigned named, unsigned allowed,
                       char *error, size_t error_size) {
    const nl_problem *p = &c->problem;
    if (!(named & ~allowed)) return true;
    const char *wrong = nl_arg_name((nl_arg)__builtin_ctz(named & ~allowed), p->pass), *comma = "";
    size_t used =
        (size_t)snprintf(error, error_size, "case %s: '%s%s' should be", c->text, option, wrong);
    for (nl_arg a = 0; a < NL_ARGS && used < error_size; a++) {
        if (!(allowed & NL_BIT(a))) continue;
        used += (size_t)snprintf(error + used, error_size - used, "%s %s%s", comma, option,
                                 nl_arg_name(a, p->pass));
        comma = ",";
    }
    return false;
}

/* May this call lack or overwrite the arguments that the parsed options name? */
static bool settle_args(nl_case *c, char *error, size_t error_size) {
    const struct nl_pass_row *pass = &nl_passes[c->problem.pass];
    const unsigned running = NL_BIT(NL_RUNNING_MEAN) | NL_BIT(NL_RUNNING_VAR), named = c->absent;
    unsigned inputs = 0;
    c->absent = 0;
    if (!check_args(c, "no-", named, case_args(c) & ~pass->needs & ~NL_BIT(NL_RESIDUAL), error,
                    error_size))
        return false;
    c->absent = named & running ? named | running : named;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (case_args(c) & NL_BIT(s) && case_output_over(c, s) != NL_ARGS) inputs |= NL_BIT(s);
    const unsigned backward = inputs & (NL_BIT(NL_DY) | NL_BIT(NL_GATE));
    if (c->in_place & WHOLE) c->in_place |= c->problem.pass == NL_BACKWARD ? backward : inputs;
    c->in_place &= ~WHOLE;
    if (c->in_place & NL_BIT(NL_DY)) inputs &= ~NL_BIT(NL_RESIDUAL); /* dx overwrites dy only */
    return check_args(c, "in-place=", c->in_place, inputs, error, error_size);
}

/* Returns why nl_forward() and nl_backward() refuse this problem, or NULL. */
static const char *impossible(const nl_problem *p) {
    const nl_layer *l = &nl_layers[p->op];
    if (p->pass == NL_INFERENCE && !l->running)
        return "this layer keeps no running statistics: write forward";
    if (p->c == 0 || p->s == 0) return "c and s must be at least 1";
    if (p->s != 1 && !l->channels_first) return "this layer normalizes rows: the shape is NxC";
    if (p->eps < 0) return "eps must not be negative";
    if (l->running && (p->momentum < 0 || p->momentum > 1)) return "momentum must be from 0 to 1";
    if (l->running && p->pass != NL_INFERENCE && p->n * p->s == 1)
        return "training needs more than one value per channel, and n * s is 1";
    return NULL;
}

/* Returns the valid options, for the error about an unreadable option. */
static const char *option_expected(const char *option) {
    static const char *const values[][2] = {
        {"threads=", "threads=N with N from 1 to 4096"},
        {"team=", "team=N with N from 1 to 4096"},
        {"eps=", "eps=E with a finite E, 0 or more"},
        {"gain=", "gain=K with a finite K"},
        {"momentum=", "momentum=M with M from 0 to 1"},
        {"parameters=", "the type of x, as parameters=f16 in an f16 case"},
        {"inner=", "inner=ROWS with ROWS 1 or more"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strncmp(option, values[i][0], strlen(values[i][0])) == 0) return values[i][1];
    return "residual, in-place, in-place=INPUT, no-affine, no-ARGUMENT, gain=K, INPUT=DATA, "
           "cast-before-weight, rounded-sum, parameters=TYPE, biased-running-var, eps=E, "
           "momentum=M, threads=N, team=N, inner=ROWS, gap=ELEMENTS, gap-TENSOR=ELEMENTS, "
           "outer-gap=ELEMENTS, outer-gap-TENSOR=ELEMENTS, "
           "stores=cached, stores=streaming, streaming, rotating, cold, skew=BYTES or "
           "skew-ARGUMENT=BYTES (a multiple of 4; for a tensor, of its element's size)";
}

/* Did an earlier option have this option's name? Each option ends with '\0'. `in-place` may occur
 * for several inputs. */
static bool repeats(const char *options, const char *option) {
    const char *value = strncmp(option, "in-place", 8) == 0 ? NULL : strchr(option, '=');
    const size_t name = value ? (size_t)(value - option) + 1 : strlen(option) + 1;
    while (options < option && strncmp(options, option, name) != 0) options += strlen(options) + 1;
    return options < option;
}

/* Sets n and c from the case's npy file. */
static bool file_shape(nl_case *c, char *error, size_t error_size) {
    npy a;
    if (strncmp(c->data, "npy:", 4) != 0) {
        snprintf(error, error_size, "case %s: shape `file` needs data npy:FILE", c->text);
        return false;
    }
    if (!npy_read(c->data + 4, &a, error, error_size)) return false;
    bool ok = a.rank >= 1 && a.shape[a.rank - 1] > 0;
    if (ok) {
        c->problem.c = a.shape[a.rank - 1];
        c->problem.n = a.count / c->problem.c;
    } else {
        snprintf(error, error_size, "%s has no last axis to normalize over", c->data + 4);
    }
    npy_free(&a);
    return ok;
}

bool case_parse(const char *text, nl_case *out, char *error, size_t error_size) {
    nl_case c = {.problem = {.eps = 1e-5f, .momentum = 0.1f, .s = 1}, .gain = 1};
    char copy[CASE_TEXT], *rest = copy;
    const char *wrong = NULL, *should = NULL;
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
    } else if (!nl_op_from_name(op, &c.problem.op)) {
        wrong = op, should = layer_names();
    } else if (!pass_from_name(pass, &c.problem.pass)) {
        wrong = pass, should = pass_names();
    } else if (!dtype_from_name(dtype, &c.problem.dtype)) {
        wrong = dtype, should = dtype_names();
    } else if (strcmp(shape, "file") != 0 && !parse_shape(shape, &c.problem)) {
        wrong = shape, should = "NxC or NxCxS, as 64x1024, or `file` for npy data";
    } else if (strlen(data) >= sizeof c.data || !kind_find(data, &c.kind[NL_X])) {
        wrong = data, should = kind_expected(data);
    }
    if (wrong) {
        snprintf(error, error_size, "case %s: '%s' should be %s", text, wrong, should);
        return false;
    }
    strcpy(c.data, data);
    c.options = rest ? (size_t)(rest - copy) : strlen(text);
    const char *const options = rest;
    for (char *option; (option = component(&rest));) {
        if (repeats(options, option)) {
            snprintf(error, error_size, "case %s: '%s' is given twice", text, option);
            return false;
        }
        if (parse_option(option, &c)) continue;
        snprintf(error, error_size, "case %s: option '%s' should be %s", text, option,
                 option_expected(option));
        return false;
    }
    if (c.residual && !nl_layers[c.problem.op].residual) {
        snprintf(error, error_size, "case %s: %s has no residual", text, op);
        return false;
    }
    if (!settle_args(&c, error, error_size)) return false;
    if (strcmp(shape, "file") == 0 && !file_shape(&c, error, error_size)) return false;
    const char *why = impossible(&c.problem);
    if (!why) why = wrong_strides(&c);
    if (why) {
        snprintf(error, error_size, "case %s: %s", text, why);
        return false;
    }
    settle_strides(&c);
    *out = c;
    return true;
}
