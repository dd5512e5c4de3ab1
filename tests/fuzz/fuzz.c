/* libFuzzer targets for the readers of files. The name of the first folder selects the target:
 *     normlab_fuzz build/asan/corpus/npy tests/fuzz/npy -max_total_time=10
 * Each target also uses the data that it read. Data that can be written are written, and must be
 * the same when read back. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/npy.h"
#include "cases/case.h"
#include "claims/claim.h"
#include "results/results.h"
#include "tuning.h"
#include "verify/error_record.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define REQUIRE(condition) \
    if (!(condition)) fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()

static char why[700];
static int csv, machine; /* files in memory */
static char path[200], machine_path[200];

static void npy_target(void) {
    npy a;
    if (!npy_read(path, &a, why, sizeof why)) return;
    size_t count = 1;
    for (size_t i = 0; i < a.rank; i++) count *= a.shape[i];
    REQUIRE(a.rank <= NPY_RANK_MAX && a.count == count && a.data);
    npy_shape_text(&a, (char[NPY_SHAPE_TEXT]){0});
    volatile unsigned char *data = a.data, last;
    if (count) last = data[count * npy_type_of(a.type)->bytes - 1];
    (void)last;
    npy_free(&a);
}

static void cases_target(void) {
    enum { MOST = 1000 };
    case_list list = {.tried = CASES_MAX - MOST};
    bool ok = cases_add_file(&list, path, why, sizeof why);
    REQUIRE(ok || *why);
    for (size_t i = 0; i < list.count; i++) {
        nl_case *c = &list.items[i], again;
        REQUIRE(case_parse(c->text, &again, why, sizeof why));
        REQUIRE(memcmp(&again.problem.n, &c->problem.n, 3 * sizeof(size_t)) == 0);
    }
    cases_free(&list);
}

static void same(void *context, const row_pair *p) {
    REQUIRE(p->a == p->b && (p->refused ? *p->why : p->ratio.low <= p->ratio.high));
    REQUIRE(p->refused || (p->verdict != FASTER && p->verdict != SLOWER));
    (void)context;
}

static void results_target(void) {
    results r;
    char one[200];
    if (!results_read(path, &r, why, sizeof why)) return;
    for (size_t i = 0; i < r.count; i++) REQUIRE(results_find(&r, &r.rows[i]) == &r.rows[i]);
    const results both[] = {r, r};
    REQUIRE(!facts_differing(both));
    facts_one_machine(both, one);
    for (int shares = 0; shares < 2; shares++) compare_results(both, shares, 0.01, same, NULL);
    results_free(&r);
}

static void claim_target(void) {
    static claim c;
    static FILE *nowhere;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (!claim_read(path, &c, why, sizeof why)) return;
    REQUIRE(c.settings > 0 && c.settings <= SETTINGS_MAX && c.q);
    claims_write_text(nowhere, &c, 1);
    claims_write_csv(nowhere, &c, 1);
}

static void tuning_target(void) {
    nl_tuning t = {0}, again = {0};
    if (nl_tuning_read(path, &t) != 0) return;
    FILE *out = fopen(path, "w");
    REQUIRE(out && nl_tuning_write(out, &t) && fclose(out) == 0);
    REQUIRE(nl_tuning_read(path, &again) == 0 && memcmp(&t, &again, sizeof t) == 0);
}

static void ignore(void *context, const error_finding *f) {
    (void)context;
    REQUIRE(*f->text);
}

/* No case ran, so an update drops only lines of removed rungs. */
static void errors_target(void) {
    error_record e;
    size_t lines, again;
    for (int time = 0; time < 2; time++) {
        bool ok = error_record_open(&e, path, false, why, sizeof why);
        REQUIRE(ok || time == 0);
        if (!ok) return;
        error_record_compare(&e, ignore, NULL);
        REQUIRE(error_record_update(&e, time ? &again : &lines, why, sizeof why));
        error_record_close(&e);
    }
    REQUIRE(lines == again);
}

static const struct {
    const char *name;
    void (*run)(void);
} targets[] = {{"npy", npy_target},      {"cases", cases_target},   {"results", results_target},
               {"claims", claim_target}, {"tuning", tuning_target}, {"errors", errors_target}};
static void (*target)(void);

/* Makes a named file in memory. */
static int make_file(const char *folder, const char *name, char at[200]) {
    int file = memfd_create(name, 0);
    char link[64];
    snprintf(at, 200, "%s/%s", folder, name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    REQUIRE(file >= 0 && symlink(link, at) == 0);
    return file;
}

static void remove_files(void) {
    unlink(path), unlink(machine_path);
    path[strlen(path) - strlen("/a.csv")] = '\0';
    rmdir(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    const char *folder = "";
    char own[] = "/tmp/normlab-fuzz-XXXXXX";
    for (int i = *argc; i-- > 1;)
        if ((*argv)[i][0] != '-') folder = (*argv)[i];
    const char *slash = strrchr(folder, '/');
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(slash ? slash + 1 : folder, targets[i].name) == 0) target = targets[i].run;
    if (!target)
        fprintf(stderr, "name a folder: cases, claims, errors, npy, results or tuning\n"), exit(2);
    REQUIRE(mkdtemp(own));
    csv = make_file(own, "a.csv", path);
    machine = make_file(own, "a.machine.txt", machine_path);
    atexit(remove_files);
    return 0;
}

static void fill(int file, const void *bytes, size_t size) {
    REQUIRE(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size);
}

/* A byte 1 separates the results from the facts of their machine; neither may contain it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const uint8_t *cut = target == results_target && size ? memchr(bytes, 1, size) : NULL;
    size_t first = cut ? (size_t)(cut - bytes) : size;
    fill(csv, bytes, first);
    fill(machine, cut ? cut + 1 : bytes, cut ? size - first - 1 : 0);
    target();
    return 0;
}
