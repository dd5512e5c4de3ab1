/* SPDX-License-Identifier: MIT */
#include "web.h"
#include "base/random.h"
#include "base/stats.h"
#include "commands/commands.h"
#include "dtype.h"
#include "models/network.h"
#include "verify/verify.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[WEB_TEXT];
static double *numbers;
static size_t room;

static struct {
    nl_case c;
    nl_data data;
    answer answer;
    instance in;
    bool open, called;
} now;

char *web_text(void) {
    return text;
}

double *web_numbers(size_t count) {
    if (count <= room) return numbers;
    double *more = realloc(numbers, count * sizeof *more);
    if (more) numbers = more, room = count;
    return more;
}

static void close_case(void) {
    if (!now.open) return;
    if (now.called) instance_free(&now.in);
    answer_free(&now.answer), data_free(&now.data);
    memset(&now, 0, sizeof now);
}

int web_open(void) {
    char error[512];
    close_case();
    bool ok = case_parse(text, &now.c, error, sizeof error) &&
              data_make(&now.c, &now.data, error, sizeof error) && web_numbers(1024);
    if (!ok) return snprintf(text, sizeof text, "%s", error), 0;
    return now.open = true;
}

int web_accepts(int i) {
    const nl_impl *impl = nl_impl_at((size_t)i);
    if (!impl) return -1;
    snprintf(text, sizeof text, "%s", impl->name);
    return strcmp(impl->isa, "c") == 0 && nl_accepts(impl, &now.c.problem);
}

static nl_dtype type_of(nl_arg a) {
    switch (nl_args[a].extent) {
    case NL_TENSOR: return now.c.problem.dtype;
    case NL_PARAMETERS: return now.c.problem.parameters;
    default: return NL_F32;
    }
}

static size_t count_of(nl_arg a) {
    return nl_arg_bytes(&now.c.problem, a) / nl_dtype_size(type_of(a));
}

int web_get(int arg) {
    const nl_arg a = (nl_arg)arg;
    const void *from = now.called && now.in.at[a] ? now.in.at[a] : now.data.input[a];
    const size_t count = count_of(a);
    if (!from || !web_numbers(count)) return 0;
    for (size_t i = 0; i < count; i++) numbers[i] = nl_load(type_of(a), from, i);
    return (int)count;
}

int web_put(int arg) {
    const nl_arg a = (nl_arg)arg;
    const size_t count = count_of(a);
    if (!now.data.input[a] || count > room) return 0;
    for (size_t i = 0; i < count; i++)
        nl_store(type_of(a), now.data.input[a], i, (float)numbers[i]);
    return (int)count;
}

static int refused(const char *why) {
    snprintf(text, sizeof text, "%s", why);
    return -1;
}

int web_call(void) {
    const nl_problem *p = &now.c.problem;
    const nl_impl *impl = nl_find(text, "c");
    if (!now.open || !impl) return refused("no case is open, or no implementation has this name");
    if (!nl_accepts(impl, p)) return refused("the implementation does not accept the case");
    const size_t scratch = nl_scratch_bytes(impl, p);
    answer_free(&now.answer);
    if (!answer_make(&now.c, &now.data, &now.answer)) return refused("out of memory");
    if (now.called && now.in.scratch_bytes < scratch) instance_free(&now.in), now.called = false;
    if (!now.called && !instance_make(&now.c, &now.data, impl, scratch, PLACE_END, &now.in))
        return refused("out of memory");
    now.called = true, now.in.impl = impl;
    instance_fill(&now.in);
    if (instance_call(&now.in, 1) != NL_OK) return refused(nl_message());
    const verdict v = outputs_check(&now.in, &now.answer);
    numbers[0] = v.error_u, numbers[1] = v.bound_u;
    snprintf(text, sizeof text, "%s", v.why);
    return (int)v.outcome;
}

int web_want(int what) {
    const nl_problem *p = &now.c.problem;
    const ref_outputs *w = &now.answer.want;
    const double *each = what == WEB_XHAT ? w->xhat : what == WEB_DX ? w->dx : NULL;
    const long double *group = what == WEB_MEAN ? w->mean : what == WEB_VAR ? w->var : w->rstd;
    const bool tensor = what == WEB_XHAT || what == WEB_DX;
    const size_t count = tensor ? count_of(NL_X) : ref_groups(p);
    if ((tensor && !each) || !web_numbers(count)) return 0;
    for (size_t i = 0; i < count; i++) numbers[i] = tensor ? each[i] : (double)group[i];
    return (int)count;
}

static uint64_t hash_of(nl_arg a) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, 32 bits at a time */
    for (size_t i = 0; i < count_of(a); i++) {
        const float v = nl_load(type_of(a), now.in.at[a], i);
        h = (h ^ (isnan(v) ? 0x7fc00000u : nl_bits(v))) * 0x100000001b3u;
    }
    return h;
}

void web_hash(void) {
    static const nl_arg outputs[] = {NL_Y,          NL_RESIDUAL_OUT, NL_MEAN,
                                     NL_RSTD,       NL_DX,           NL_DGATE,
                                     NL_DGAMMA,     NL_DBETA,        NL_RUNNING_MEAN,
                                     NL_RUNNING_VAR};
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++)
        if (now.called && now.in.at[outputs[k]])
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s=%016llx", used ? " " : "",
                                 nl_args[outputs[k]].name, (unsigned long long)hash_of(outputs[k]));
}

float web_round(int dtype, float v) {
    return nl_round((nl_dtype)dtype, v);
}

double web_normal(int stream, int i) {
    return random_normal((uint64_t)stream, (uint64_t)i);
}

/* The networks of the study `depth`, which draws the same numbers. */
int web_network(int wiring, int norm, double stretch, int layers, int width, int rows) {
    static float *normal;
    static size_t drawn;
    const size_t l = (size_t)layers, c = (size_t)width, n = (size_t)rows * c, all = 2 * l * c * c;
    if (all > drawn) {
        free(normal), drawn = 0;
        normal = malloc(all * sizeof *normal);
        if (!normal) return 0;
        for (; drawn < all; drawn++) normal[drawn] = (float)random_normal(1, drawn);
    }
    float *x = malloc(4 * n * sizeof *x);
    if (!x || !web_numbers(3 * l + 2)) return free(x), 0;
    for (size_t i = 0; i < 2 * n; i++) x[i] = (float)random_normal(2, i);
    const network net = {.wiring = (enum wiring)wiring,
                         .has_norm = norm >= 0,
                         .norm = (nl_op)(norm < 0 ? 0 : norm),
                         .stretch = (float)stretch,
                         .layers = l,
                         .width = c,
                         .rows = (size_t)rows,
                         .normal = normal};
    const network_sizes sizes = {numbers, numbers + l + 1, numbers + 2 * l + 2};
    const bool ok = network_run(&net, x, x + n, x + 2 * n, x + 3 * n, sizes);
    free(x);
    return ok;
}

void web_interval(int count) {
    const estimate e = stats_middle(numbers, (size_t)count);
    numbers[0] = e.low, numbers[1] = e.median, numbers[2] = e.high;
}

int web_verdict(double low, double median, double high, double band, double margin) {
    return stats_verdict((estimate){median, low, high}, band, margin);
}

int web_judge(void) {
    enum { WORDS = 64 };
    char *argv[WORDS + 1] = {"judge"};
    int argc = 1;
    for (char *word = strtok(text, "\n"); word && argc < WORDS; word = strtok(NULL, "\n"))
        argv[argc++] = word;
    const int code = cmd_judge(argc, argv);
    fflush(stdout), fflush(stderr);
    return code;
}
