/* SPDX-License-Identifier: MIT */
#include "cli/counting.h"
#include "base/csv.h"
#include "verify/verify.h"
#include "workbench/compile.h"
#include "workbench/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <ucontext.h>
#endif

double counted_cost(counted k) {
    return k.instructions + 10 * k.first + 100 * k.last;
}

bool counting_works(void) {
    const char *path = getenv("PATH");
    for (int n; path && *path; path += n + (path[n] == ':')) {
        char file[COMMAND_PATH];
        n = (int)strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/valgrind", n, path);
        if (access(file, X_OK) == 0) return true;
    }
    return false;
}

const char *counting_isa(void) {
    const char *best = nl_isa_best();
    return strcmp(best, "avx512") == 0 ? "avx2" : best;
}

/* Static, like the call's stack, so that a call's data have the same addresses in every run. */
static struct {
    nl_case c;
    nl_data data;
    instance in;
    nl_status status;
} series;

/* callgrind collects events inside the function of this name. The function is not static, since a
 * compiler could rename a static function. */
void counting_this_call(void);
__attribute__((noinline)) void counting_this_call(void) {
    series.status = instance_call(&series.in, 1);
}

static void call_twice(void) {
    series.status = instance_call(&series.in, 1); /* warms the caches */
    if (series.status == NL_OK) counting_this_call();
}

/* Runs on a separate stack. The address of the usual stack depends on the environment's length, and
 * decides which lines of the buffers the stack evicts. */
static void call_apart(void) {
#ifdef __linux__
    static _Alignas(4096) char stack[1 << 23];
    static ucontext_t here, there;
    if (getcontext(&there) == 0) {
        there.uc_stack.ss_sp = stack, there.uc_stack.ss_size = sizeof stack;
        there.uc_link = &here;
        makecontext(&there, call_twice, 0);
        swapcontext(&here, &there);
        return;
    }
#endif
    call_twice();
}

bool counting_calls(const nl_impl *impl, const nl_case *c, char *error, size_t size) {
    series.c = *c;
    if (!data_make(&series.c, &series.data, error, size)) return false;
    bool ok = instance_make(&series.c, &series.data, impl, nl_scratch_bytes(impl, &c->problem),
                            PLACE_END, &series.in);
    if (!ok) snprintf(error, size, "out of memory");
    if (ok) {
        call_apart();
        ok = series.status == NL_OK;
        if (!ok) snprintf(error, size, "%s", nl_message());
        instance_free(&series.in);
    }
    data_free(&series.data);
    return ok;
}

/* Reads the sums of a file of callgrind. */
static bool read_events(const char *path, counted *out) {
    char line[1000];
    double v[9] = {0}; /* callgrind omits zeros at the end */
    bool found = false;
    FILE *f = fopen(path, "r");
    /* Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw */
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "totals: %lf %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3,
                       v + 4, v + 5, v + 6, v + 7, v + 8) >= 1;
    if (f) fclose(f);
    if (found) *out = (counted){v[0], v[3] + v[4] + v[5], v[6] + v[7] + v[8]};
    return found;
}

typedef struct wanted {
    const nl_impl *impl;
    verdict v;
} wanted;

static bool is_wanted(void *context, const nl_impl *impl, const nl_case *c) {
    (void)c;
    return impl == ((wanted *)context)->impl;
}

static void keep(void *context, const nl_case *c, const nl_impl *impl, const verdict *v) {
    (void)c, (void)impl, ((wanted *)context)->v = *v;
}

bool counting_right(const nl_impl *impl, const nl_case *c, char *error, size_t size) {
    wanted k = {.impl = impl, .v = failure("was not called", "")};
    const check_settings s = {.threads = 1, .context = &k, .selects = is_wanted, .judged = keep};
    if (!check_case(c, &s, error, size)) return false;
    if (k.v.outcome == OUTCOME_DEMO)
        fprintf(stderr, "note: %s has no bound on %s\n", impl->name, c->text);
    if (k.v.outcome == OUTCOME_OK || k.v.outcome == OUTCOME_DEMO) return true;
    snprintf(error, size, "%s is wrong on %s: %s", impl->name, c->text, k.v.why);
    return false;
}

/* Adds the words of `normlab count STAGE`, with the kernel and the case. */
static void add_self(command *k, const char *stage, const char *library, const char *impl,
                     const char *isa, const nl_case *c) {
    char self[COMMAND_PATH];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    command_add(k, "%s", self);
    command_add(k, "count");
    command_add(k, "%s", stage);
    if (library) command_add(k, "--load=%s", library);
    command_add(k, "--impl=%s@%s", impl, isa);
    command_add(k, "%s", c->text);
}

bool counting_run(const char *library, const char *impl, const char *isa, const nl_case *c,
                  counted *out, char *error, size_t size) {
    char file[] = "/tmp/normlab-count-XXXXXX";
    command right = {.count = 0}, k = {.count = 0};
    add_self(&right, "--right", library, impl, isa, c);
    if (!command_run(&right, error, size))
        return snprintf(error, size, "%s is not counted", impl), false;
    const int fd = mkstemp(file);
    if (fd < 0) return snprintf(error, size, "cannot write to /tmp"), false;
    close(fd);
    /* The caches are simulated with fixed sizes, so that counts do not depend on the machine. */
    command_words(&k, "valgrind -q --tool=callgrind --log-file=/dev/null --collect-atstart=no "
                      "--toggle-collect=counting_this_call --cache-sim=yes --I1=32768,8,64 "
                      "--D1=32768,8,64 --LL=8388608,16,64");
    command_add(&k, "--callgrind-out-file=%s", file);
    add_self(&k, "--inside", library, impl, isa, c);
    const bool ok = command_run(&k, error, size) && read_events(file, out) && out->instructions > 0;
    unlink(file);
    if (!ok) snprintf(error, size, "valgrind could not count %s on %s", impl, c->text);
    return ok;
}

bool counting_file(const char *file, const nl_case *c, counted *out, char *error, size_t size) {
    compiled k = {.widest = counting_isa()};
    const bool ok = compile_kernel(file, &k, error, size) &&
                    counting_run(k.library, k.name, k.isa, c, out, error, size);
    compile_remove(&k);
    return ok;
}

bool counting_rung(const char *name, const nl_case *c, counted *out, char *error, size_t size) {
    const nl_impl *any = nl_find(name, NULL), *m = nl_find(name, counting_isa());
    const char *isa = m && nl_accepts(m, &c->problem) ? counting_isa() : "c";
    const char *from = any ? load_origin(name, any->isa) : NULL;
    if (from && ends_with(from, ".c")) return counting_file(from, c, out, error, size);
    return counting_run(from, name, isa, c, out, error, size);
}
