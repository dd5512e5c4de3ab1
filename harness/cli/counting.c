/* SPDX-License-Identifier: MIT */
#include "cli/counting.h"
#include "verify/instance.h"
#include "workbench/compile.h"
#include "workbench/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

bool counting_calls(const nl_impl *impl, const nl_case *c, int calls, char *error, size_t size) {
    nl_data data;
    instance in;
    if (!data_make(c, &data, error, size)) return false;
    bool ok = instance_make(c, &data, impl, nl_scratch_bytes(impl, &c->problem), PLACE_END, &in);
    if (!ok) snprintf(error, size, "out of memory");
    for (int i = 0; ok && i < calls; i++)
        if (!(ok = instance_call(&in, 1) == NL_OK)) snprintf(error, size, "%s", nl_message());
    if (ok) instance_free(&in);
    data_free(&data);
    return ok;
}

/* Adds the events of a file of cachegrind, times a sign. */
static bool add_events(const char *path, int sign, counted *out) {
    char line[1000];
    double v[9];
    bool found = false;
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "summary: %lf %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3,
                       v + 4, v + 5, v + 6, v + 7, v + 8) == 9;
    if (f) fclose(f);
    if (!found) return false;
    out->instructions += sign * v[0];
    out->first += sign * (v[1] + v[4] + v[7]);
    out->last += sign * (v[2] + v[5] + v[8]);
    return true;
}

/* The second call, as the difference of two processes that make one call and two. */
bool counting_run(const char *library, const char *impl, const char *isa, const nl_case *c,
                  counted *out, char *error, size_t size) {
    char file[] = "/tmp/normlab-count-XXXXXX", self[COMMAND_PATH];
    const int fd = mkstemp(file);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    bool ok = fd >= 0 && length > 0;
    *out = (counted){0};
    if (fd >= 0) close(fd);
    if (!ok) return snprintf(error, size, "cannot write to /tmp"), false;
    self[length] = '\0';
    for (int calls = 1; calls <= 2 && ok; calls++) {
        command k = {.count = 0};
        /* A machine's own caches would make other counts. */
        command_words(
            &k,
            "valgrind -q --tool=cachegrind --log-file=/dev/null --cache-sim=yes --I1=32768,8,64 "
            "--D1=32768,8,64 --LL=8388608,16,64");
        command_add(&k, "--cachegrind-out-file=%s", file);
        command_add(&k, "%s", self);
        command_words(&k, "count --calls");
        command_add(&k, "%d", calls);
        if (library) command_add(&k, "--load=%s", library);
        command_add(&k, "--impl=%s@%s", impl, isa);
        command_add(&k, "%s", c->text);
        ok = command_run(&k, error, size) && add_events(file, calls == 1 ? -1 : 1, out);
    }
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
    const nl_impl *m = nl_find(name, counting_isa());
    const char *isa = m && nl_accepts(m, &c->problem) ? counting_isa() : "c";
    return counting_run(NULL, name, isa, c, out, error, size);
}
