/* Tests the reader of results with good files. SPDX-License-Identifier: MIT */
#include "cli/report.h"
#include "results.h"
#include "verify/verify.h"

#include <math.h>

TestSuite(results, .init = enter_results, .fini = leave_folder);

static results read_good(const char *text, size_t size) {
    results r;
    const char *why = reading(text, size, &r);
    cr_assert(!*why, "refused: %s", why);
    return r;
}

Test(results, a_file_of_bench) {
    static const char text[] =
        FULL "layernorm/forward/f32/64x1024/normal/residual,layernorm/naive,avx2,4,layernorm,"
             "forward,f32,64,1024,1,normal,residual,ok,1.5,9,12345.5,1.2e4,13000,11000,40,80,50.5,"
             "786432,512,0,layernorm/naive,1,1,1,baseline,0.004,21,8,precise,IMPOSSIBLE\n"
             "\"npy:a,\"\"b\"\".npy\",rmsnorm/naive,c,1,,,,,,,\"a,\"\"b\"\"\nc\",,skip,nan,inf,"
             ",,,,,,,,,,,,,,,,,,,\n";
    results r = read_good(text, sizeof text - 1);
    const result *a = r.rows, *b = r.rows + 1;
    cr_assert(r.count == 2 && !*r.warning, "%zu rows, warning '%s'", r.count, r.warning);
    bool names = strcmp(a->spelling, "layernorm/forward/f32/64x1024/normal/residual") == 0 &&
                 strcmp(a->impl, "layernorm/naive") == 0 && strcmp(a->isa, "avx2") == 0 &&
                 strcmp(a->verdict, "ok") == 0 && strcmp(a->data, "normal") == 0 &&
                 strcmp(a->flag, "IMPOSSIBLE") == 0;
    cr_assert(names, "the texts are %s %s %s %s %s %s", a->spelling, a->impl, a->isa, a->verdict,
              a->data, a->flag);
    bool numbers = a->line == 2 && a->threads == 4 && a->ns == 12345.5 && a->ns_low == 1.2e4 &&
                   a->ns_high == 13000 && a->limit_pct == 50.5 && a->aa_band == 0.004 &&
                   a->n == 64 && a->c == 1024 && a->s == 1 && a->bytes == 786432;
    cr_assert(numbers, "the numbers are %zu %d %g %g %g %g %g %g %g %g %g", a->line, a->threads,
              a->ns, a->ns_low, a->ns_high, a->limit_pct, a->aa_band, a->n, a->c, a->s, a->bytes);
    cr_assert(strcmp(b->spelling, "npy:a,\"b\".npy") == 0 && strcmp(b->data, "a,\"b\"\nc") == 0,
              "quoted fields are '%s' and '%s'", b->spelling, b->data);
    cr_assert(isnan(b->ns) && isnan(b->ns_low) && isnan(b->limit_pct) && isnan(b->aa_band) &&
                  isnan(b->bytes) && !*b->flag,
              "empty fields should be NAN and \"\"");
    results_free(&r);
}

Test(results, columns_are_found_by_name) {
    static const char text[] =
        "\xef\xbb\xbfns_high,later,ns_low,ns,verdict,threads,isa,impl,case\r\n"
        "11,?,9,10,demo,1,c,i/x,\"a\"\r\n";
    results r = read_good(text, sizeof text - 1);
    bool same = r.count == 1 && r.rows->ns == 10 && r.rows->ns_low == 9 && r.rows->ns_high == 11 &&
                strcmp(r.rows->spelling, "a") == 0 && strcmp(r.rows->verdict, "demo") == 0;
    cr_assert(same, "%zu rows; ns %g", r.count, r.count ? r.rows->ns : 0);
    cr_assert(isnan(r.rows->aa_band) && isnan(r.rows->bytes) && !*r.rows->data && !*r.rows->flag,
              "missing columns should read NAN and \"\"");
    results_free(&r);
}

Test(results, rows_are_found_by_key) {
    static const char text[] =
        NEEDED "b,i/y,c,2,ok,4,4,4\nb,i/x,c,10,ok,1,1,1\nb,i/x,c,2,ok,2,2,2\n"
               "a,i/x,c,2,ok,3,3,3\nb,i/x,avx2,2,ok,5,5,5\n";
    results r = read_good(text, sizeof text - 1);
    for (size_t i = 0; i < r.count; i++)
        if (results_find(&r, &r.rows[i]) != &r.rows[i])
            cr_assert_fail("row %zu of %zu is not found", i, r.count);
    cr_assert(r.count == 5, "%zu rows, not 5", r.count);
    static const result absent[] = {{.spelling = "b", .impl = "i/x", .isa = "c", .threads = 3},
                                    {.spelling = "b", .impl = "i/z", .isa = "c", .threads = 2},
                                    {.spelling = "c", .impl = "i/x", .isa = "c", .threads = 2},
                                    {.spelling = "b", .impl = "i/x", .isa = "", .threads = 2}};
    for (size_t i = 0; i < 4; i++)
        if (results_find(&r, &absent[i])) cr_assert_fail("absent row %zu is found", i);
    results_free(&r);
}

Test(results, the_machine) {
    static const char facts[] = "cpu: A: one\r\n\nflags:\ncaches: L1 32K\nnote: 1\nnote: 2";
    results r = read_good(NEEDED GOOD, strlen(NEEDED GOOD));
    cr_assert(r.fact_count == 0 && !results_fact(&r, "cpu"), "%zu facts without a machine file",
              r.fact_count);
    results_free(&r);
    char machine[300];
    snprintf(machine, sizeof machine, "%s/a.machine.txt", folder);
    spill(machine, facts, sizeof facts - 1);
    r = read_good(NEEDED GOOD, strlen(NEEDED GOOD));
    cr_assert(r.fact_count == 5, "%zu facts, not 5", r.fact_count);
    const char *cpu = results_fact(&r, "cpu"), *flags = results_fact(&r, "flags");
    const char *note = results_fact(&r, "note");
    cr_assert(strcmp(cpu, "A: one") == 0 && strcmp(flags, "") == 0 && strcmp(note, "1") == 0,
              "cpu '%s', flags '%s', note '%s'", cpu, flags, note);
    cr_assert(!results_fact(&r, "os") && strcmp(r.facts[4].value, "2") == 0, "os, or note 2");
    results_free(&r);
    static const char *const damaged[] = {"cpu: one\nnonsense\n", "cpu: \x1b[31m\n"};
    static const char *const says[] = {":2: 'nonsense' should be `key: value`", ":1: byte 0x1b"};
    for (size_t i = 0; i < 2; i++) {
        spill(machine, damaged[i], strlen(damaged[i]));
        const char *why = reading(NEEDED GOOD, strlen(NEEDED GOOD), &r);
        cr_assert(strstr(why, says[i]) && strstr(why, "a.machine.txt"), "'%s'", why);
    }
    remove(machine);
    cr_assert(symlink(machine, machine) == 0, "cannot make a link");
    const char *why = reading(NEEDED GOOD, strlen(NEEDED GOOD), &r);
    cr_assert(strstr(why, "cannot read it"), "a link to itself: '%s'", why);
}

/* An interrupted run leaves a damaged last line; the reader takes the rows before it. */
Test(results, a_file_that_was_cut_off) {
    static const char rows[] = NEEDED GOOD "b,i/x,c,1,ok,10,9,11\n";
    size_t whole = sizeof NEEDED GOOD - 1;
    for (size_t size = sizeof NEEDED - 1; size < sizeof rows; size++) {
        size_t expect = size == sizeof rows - 1 ? 2 : size >= whole;
        bool cut = rows[size - 1] != '\n';
        results r = read_good(rows, size);
        if (r.count != expect || cut != !!*r.warning)
            cr_assert_fail("%zu bytes: %zu rows, not %zu; warning '%s'", size, r.count, expect,
                           r.warning);
        if (cut &&
            !strstr(r.warning, size > whole ? "a.csv:3: the last line" : "a.csv:2: the last"))
            cr_assert_fail("%zu bytes: warning '%s'", size, r.warning);
        results_free(&r);
    }
    results r = read_good(NEEDED GOOD "\"b", sizeof NEEDED GOOD "\"b" - 1);
    cr_assert(r.count == 1 && *r.warning, "cut inside quotes: %zu rows", r.count);
    results_free(&r);
}

/* Lines and files have any size: a field of a million characters, ten thousand columns and rows. */
Test(results, large) {
    enum { MANY = 10000, LONG = 1000000 };
    char *text = malloc(LONG + 16 * MANY), *end = text;
    cr_assert(text, "no memory");
    end += sprintf(end, "x,%s", NEEDED);
    memset(end, 'x', LONG);
    end += LONG;
    end += sprintf(end, ",%s", GOOD);
    results r = read_good(text, (size_t)(end - text));
    cr_assert(r.count == 1 && r.rows->ns == 10, "a long field: %zu rows", r.count);
    results_free(&r);
    for (int i = 0; i < MANY; i++) text[i] = ',';
    end = text + MANY + sprintf(text + MANY, NEEDED);
    for (int i = 0; i < MANY; i++) *end++ = ',';
    end += sprintf(end, GOOD);
    r = read_good(text, (size_t)(end - text));
    cr_assert(r.count == 1 && r.rows->ns_high == 11, "many columns: %zu rows", r.count);
    results_free(&r);
    end = text + sprintf(text, NEEDED);
    for (int i = MANY; i > 0; i--) end += sprintf(end, "a,i/x,c,%d,ok,%d,1,99999\n", i, i);
    r = read_good(text, (size_t)(end - text));
    cr_assert(r.count == MANY && results_find(&r, r.rows + 77)->ns == MANY - 77, "%zu rows",
              r.count);
    results_free(&r);
    free(text);
}

/* The reader accepts every verdict of a check. */
Test(results, every_verdict) {
    for (outcome o = OUTCOME_OK; o <= OUTCOME_SKIP; o++) {
        char text[200];
        int size = snprintf(text, sizeof text, NEEDED "a,i/x,c,1,%s,10,9,11\n", outcome_name(o));
        results r = read_good(text, (size_t)size);
        cr_assert(strcmp(r.rows->verdict, outcome_name(o)) == 0, "%s", r.rows->verdict);
        results_free(&r);
    }
}

/* Sets text to what report_busy() prints for a baseline of 100 ns and a row with this time and
 * this speed. */
static void says_of_busy(double ns, double speed, double band, char text[300]) {
    nl_case c;
    char error[200];
    cr_assert(case_parse("rmsnorm/forward/f32/4x8/normal", &c, error, sizeof error));
    report r = {.table = NULL};
    row base = {.c = &c,
                .timed = true,
                .is_baseline = true,
                .t = {.ns = {100, 99, 101}, .band = band}};
    row other = {.c = &c, .timed = true, .t = {.ns = {ns, ns, ns}}};
    other.t.log_ratio = (estimate){-log(speed), 0, 0};
    report_row(&r, &base), report_row(&r, &other);
    r.table = tmpfile();
    cr_assert(r.table);
    report_busy(&r);
    rewind(r.table);
    text[fread(text, 1, 299, r.table)] = 0;
    fclose(r.table);
}

Test(results, bench_explains_times_that_contradict_speeds) {
    char text[300];
    says_of_busy(50, 2.05, 0.01, text);
    cr_expect(!*text, "%s", text);
    says_of_busy(50, 1.6, 0.01, text);
    cr_expect(strstr(text, "by up to 25 %"), "%s", text);
    says_of_busy(40, 2, 0.01, text);
    cr_expect(strstr(text, "by up to 25 %"), "%s", text);
    says_of_busy(50, 1.6, 0.2, text);
    cr_expect(strstr(text, "the machine is busy"), "%s", text);
}
