/* The reader of results on good files and on every damaged one we could think of: what it must not
 * do is to believe a number that is not there.
 * SPDX-License-Identifier: MIT */
#include "results/results.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], path[300], machine[300];

static void enter(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/normlab-results-XXXXXX",
             temporary ? temporary : "/tmp");
    cr_assert(mkdtemp(folder), "cannot create %s", folder);
    snprintf(path, sizeof path, "%s/a.csv", folder);
    snprintf(machine, sizeof machine, "%s/a.machine.txt", folder);
}

static void leave(void) {
    remove(path);
    remove(machine);
    rmdir(folder);
}

TestSuite(results, .init = enter, .fini = leave);

static void spill(const char *to, const char *bytes, size_t size) {
    FILE *f = fopen(to, "wb");
    cr_assert(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "cannot write %s", to);
}

/* Reads `text`; what came of it is "" or the error without the path. */
static char error[700];

static const char *reading(const char *text, size_t size, results *out) {
    spill(path, text, size);
    error[0] = '\0';
    if (results_read(path, out, error, sizeof error)) return "";
    size_t length = strlen(path);
    return strncmp(error, path, length) == 0 ? error + length : error;
}

/* What is needed, and what bench writes; unknown columns are passed over. */
#define NEEDED "case,impl,isa,threads,verdict,ns,ns_low,ns_high\n"
#define FULL                                                                                     \
    "case,impl,isa,threads,op,pass,dtype,n,c,s,data,options,verdict,error_u,bound_u,ns,ns_low,"  \
    "ns_high,ns_min,gbps,limit_gbps,limit_pct,bytes,state_bytes,scratch_bytes,baseline,speedup," \
    "speedup_low,speedup_high,comparison,aa_band,rounds,calls,stopped,flag\n"
#define GOOD "a,i/x,c,1,ok,10,9,11\n"

Test(results, a_file_of_bench) {
    static const char text[] =
        FULL "layernorm/forward/f32/64x1024/normal/residual,layernorm/naive,avx2,4,layernorm,"
             "forward,f32,64,1024,1,normal,residual,ok,1.5,9,12345.5,1.2e4,13000,11000,40,80,50.5,"
             "786432,512,0,layernorm/naive,1,1,1,baseline,0.004,21,8,precise,IMPOSSIBLE\n"
             "\"npy:a,\"\"b\"\".npy\",rmsnorm/naive,c,1,,,,,,,\"a,\"\"b\"\"\nc\",,skip,nan,inf,"
             ",,,,,,,,,,,,,,,,,,,\n";
    results r;
    const char *why = reading(text, sizeof text - 1, &r);
    cr_assert(!*why, "refused: %s", why);
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
    results r;
    const char *why = reading(text, sizeof text - 1, &r);
    cr_assert(!*why, "refused: %s", why);
    bool same = r.count == 1 && r.rows->ns == 10 && r.rows->ns_low == 9 && r.rows->ns_high == 11 &&
                strcmp(r.rows->spelling, "a") == 0 && strcmp(r.rows->verdict, "demo") == 0;
    cr_assert(same, "%zu rows; ns %g", r.count, r.count ? r.rows->ns : 0);
    cr_assert(isnan(r.rows->aa_band) && isnan(r.rows->bytes) && !*r.rows->data && !*r.rows->flag,
              "columns that are not there should read NAN and \"\"");
    results_free(&r);
}

Test(results, rows_are_found_by_key) {
    static const char text[] =
        NEEDED "b,i/y,c,2,ok,4,4,4\nb,i/x,c,10,ok,1,1,1\nb,i/x,c,2,ok,2,2,2\n"
               "a,i/x,c,2,ok,3,3,3\nb,i/x,avx2,2,ok,5,5,5\n";
    results r;
    const char *why = reading(text, sizeof text - 1, &r);
    cr_assert(!*why, "refused: %s", why);
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
    results r;
    const char *why = reading(NEEDED GOOD, strlen(NEEDED GOOD), &r);
    cr_assert(!*why && r.fact_count == 0 && !results_fact(&r, "cpu"),
              "without a machine file: %s, %zu facts", why, r.fact_count);
    results_free(&r);
    spill(machine, facts, sizeof facts - 1);
    why = reading(NEEDED GOOD, strlen(NEEDED GOOD), &r);
    cr_assert(!*why && r.fact_count == 5, "refused: %s, or not 5 facts", why);
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
        why = reading(NEEDED GOOD, strlen(NEEDED GOOD), &r);
        cr_assert(strstr(why, says[i]) && strstr(why, "a.machine.txt"), "'%s'", why);
    }
    remove(machine);
    cr_assert(symlink(machine, machine) == 0, "cannot make a link");
    why = reading(NEEDED GOOD, strlen(NEEDED GOOD), &r);
    cr_assert(strstr(why, "cannot read it"), "a link to itself: '%s'", why);
}

/* The last line is what a run that was cut off leaves; the rows before it stand. */
Test(results, a_file_that_was_cut_off) {
    static const char rows[] = NEEDED GOOD "b,i/x,c,1,ok,10,9,11\n";
    size_t whole = sizeof NEEDED GOOD - 1;
    for (size_t size = sizeof NEEDED - 1; size < sizeof rows; size++) {
        size_t expect = size == sizeof rows - 1 ? 2 : size >= whole;
        bool cut = rows[size - 1] != '\n';
        results r;
        const char *why = reading(rows, size, &r);
        if (*why) cr_assert_fail("%zu bytes: refused: %s", size, why);
        if (r.count != expect || cut != !!*r.warning)
            cr_assert_fail("%zu bytes: %zu rows, not %zu; warning '%s'", size, r.count, expect,
                           r.warning);
        if (cut &&
            !strstr(r.warning, size > whole ? "a.csv:3: the last line" : "a.csv:2: the last"))
            cr_assert_fail("%zu bytes: warning '%s'", size, r.warning);
        results_free(&r);
    }
    results r;
    const char *why = reading(NEEDED GOOD "\"b", sizeof NEEDED GOOD "\"b" - 1, &r);
    cr_assert(!*why && r.count == 1 && *r.warning, "cut inside quotes: %s", why);
    results_free(&r);
}

static const struct damage {
    const char *what, *text, *says;
} damages[] = {
    {"empty", "", ": it is empty"},
    {"no header", GOOD, ":1: no column case"},
    {"a header cut off", "case,impl", ":1: the header is cut off"},
    {"no ns_low", "case,impl,isa,threads,verdict,ns,ns_high\n", ":1: no column ns_low"},
    {"ns twice", "case,impl,isa,threads,verdict,ns,ns_low,ns_high,ns\n",
     ":1: the column ns is there 2"},
    {"flag twice", "flag,case,impl,isa,threads,verdict,ns,ns_low,ns_high,flag\n",
     ":1: the column flag"},
    {"too few fields", NEEDED GOOD "a,i/x,c,1,ok,10,9\n" GOOD,
     ":3: 7 fields where the header has 8"},
    {"too many fields", NEEDED "a,i/x,c,1,ok,10,9,11,\n", ":2: 9 fields"},
    {"an empty line", NEEDED "\n" GOOD, ":2: 1 fields"},
    {"an open quote", NEEDED "\"a,i/x,c,1,ok,10,9,11\n" GOOD,
     ":2: a quote in this line is never closed"},
    {"an open quote at the end", NEEDED GOOD "b,i/x,c,1,ok,10,9,\"11\n",
     ":3: a quote in this line"},
    {"a quote inside", NEEDED "a\"b,i/x,c,1,ok,10,9,11\n", ":2: a quote does not enclose"},
    {"text behind a quote", NEEDED "\"a\"b,i/x,c,1,ok,10,9,11\n", ":2: a quote does not enclose"},
    {"a number behind quoted lines",
     NEEDED "\"a\nb\",i/x,c,1,ok,1,1,1\n" GOOD "c,i/x,c,1,ok,x,9,11\n", ":5: ns 'x'"},
    {"an empty case", NEEDED ",i/x,c,1,ok,10,9,11\n", ":2: case '' should not be empty"},
    {"an empty impl", NEEDED "a,,c,1,ok,10,9,11\n", ":2: impl '' should not be empty"},
    {"an empty isa", NEEDED "a,i/x,,1,ok,10,9,11\n", ":2: isa '' should not be empty"},
    {"no threads", NEEDED "a,i/x,c,,ok,10,9,11\n", ":2: threads ''"},
    {"threads 0", NEEDED "a,i/x,c,0,ok,10,9,11\n", ":2: threads '0'"},
    {"threads 1.5", NEEDED "a,i/x,c,1.5,ok,10,9,11\n", ":2: threads '1.5'"},
    {"threads 1e30", NEEDED "a,i/x,c,1e30,ok,10,9,11\n", ":2: threads '1e30'"},
    {"verdict fine", NEEDED "a,i/x,c,1,fine,10,9,11\n", ":2: verdict 'fine' should be ok, fail"},
    {"no verdict", NEEDED "a,i/x,c,1,,10,9,11\n", ":2: verdict ''"},
    {"ns nan", NEEDED "a,i/x,c,1,ok,nan,9,11\n", ":2: ns 'nan' should be a positive number"},
    {"ns inf", NEEDED "a,i/x,c,1,ok,inf,9,inf\n", ":2: ns 'inf'"},
    {"ns too large", NEEDED "a,i/x,c,1,ok,1e999,9,11\n", ":2: ns '1e999'"},
    {"ns 0", NEEDED "a,i/x,c,1,ok,0,0,0\n", ":2: ns '0'"},
    {"ns too small", NEEDED "a,i/x,c,1,ok,1e-999,9,11\n", ":2: ns '1e-999'"},
    {"ns negative", NEEDED "a,i/x,c,1,ok,-10,9,11\n", ":2: ns '-10'"},
    {"ns with a unit", NEEDED "a,i/x,c,1,ok,10 ns,9,11\n", ":2: ns '10 ns'"},
    {"ns with a blank", NEEDED "a,i/x,c,1,ok, 10,9,11\n", ":2: ns ' 10'"},
    {"ns hexadecimal", NEEDED "a,i/x,c,1,ok,0x10,9,17\n", ":2: ns '0x10'"},
    {"ns 1-2", NEEDED "a,i/x,c,1,ok,1-2,1,11\n", ":2: ns '1-2'"},
    {"ns .", NEEDED "a,i/x,c,1,ok,.,1,11\n", ":2: ns '.'"},
    {"ns_low negative", NEEDED "a,i/x,c,1,ok,10,-9,11\n", ":2: ns_low '-9'"},
    {"ns_high nan", NEEDED "a,i/x,c,1,ok,10,9,NAN\n", ":2: ns_high 'NAN'"},
    {"low > ns", NEEDED "a,i/x,c,1,ok,10,10.5,11\n", ":2: ns 10 is not between"},
    {"low > ns, no high", NEEDED "a,i/x,c,1,ok,10,10.5,\n", ":2: ns 10 is not between"},
    {"ns > high", NEEDED "a,i/x,c,1,ok,10,9,9.5\n", ":2: ns 10 is not between"},
    {"an interval alone", NEEDED "a,i/x,c,1,ok,,9,11\n", ":2: an interval without its ns"},
    {"half an interval alone", NEEDED "a,i/x,c,1,ok,,9,\n", ":2: an interval without its ns"},
    {"a row twice", NEEDED GOOD "b,i/x,c,1,ok,1,1,1\n" GOOD,
     ":4: a i/x@c, threads 1 is in line 2 already"},
    {"an escape", NEEDED "a\x1b[2J,i/x,c,1,ok,10,9,11\n", ":2: byte 0x1b does not belong"},
    {"a delete", NEEDED "a\x7f,i/x,c,1,ok,10,9,11\n", ":2: byte 0x7f does not belong"},
    {"limit_pct negative", "limit_pct," NEEDED "-1," GOOD, ":2: limit_pct '-1'"},
    {"limit_pct 0", "limit_pct," NEEDED "0," GOOD, ":2: limit_pct '0'"},
    {"aa_band negative", "aa_band," NEEDED "-0.1," GOOD, ":2: aa_band '-0.1'"},
    {"aa_band inf", "aa_band," NEEDED "inf," GOOD, ":2: aa_band 'inf'"},
    {"bytes many", "bytes," NEEDED "many," GOOD, ":2: bytes 'many'"},
};

Test(results, damage_is_refused) {
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        results r;
        const char *why = reading(damages[i].text, strlen(damages[i].text), &r);
        if (strncmp(why, damages[i].says, strlen(damages[i].says)) != 0)
            cr_assert_fail("%s: '%s', not '%s'", damages[i].what, why, damages[i].says);
        if (r.rows || r.sorted || r.facts || r.text)
            cr_assert_fail("%s: refused, and something is left", damages[i].what);
    }
    static const char nul[] = NEEDED "a\0b,i/x,c,1,ok,10,9,11\n";
    results r;
    const char *why = reading(nul, sizeof nul - 1, &r);
    cr_assert(strstr(why, ":2: byte 0x00"), "a NUL byte: '%s'", why);
}

Test(results, what_is_no_file_is_refused) {
    results r;
    bool read = results_read(path, &r, error, sizeof error);
    cr_assert(!read && strstr(error, "a.csv: cannot read it: "), "missing: '%s'", error);
    read = results_read(folder, &r, error, sizeof error);
    cr_assert(!read && strstr(error, "it is not a file"), "a folder: '%s'", error);
    cr_assert(mkfifo(path, 0600) == 0, "cannot make a pipe");
    read = results_read(path, &r, error, sizeof error);
    cr_assert(!read && strstr(error, "it is not a file"), "a pipe: '%s'", error);
    read = results_read("", &r, error, sizeof error);
    cr_assert(!read && *error, "an empty name: '%s'", error);
    char small[8];
    read = results_read("nowhere.csv", &r, small, sizeof small);
    cr_assert(!read && strcmp(small, "nowhere") == 0, "a short message: '%s'", small);
}

/* Lines and files of any size: a field of a million characters, ten thousand columns and rows. */
Test(results, large) {
    enum { MANY = 10000, LONG = 1000000 };
    char *text = malloc(LONG + 16 * MANY), *end = text;
    cr_assert(text, "no memory");
    end += sprintf(end, "x,%s", NEEDED);
    memset(end, 'x', LONG);
    end += LONG;
    end += sprintf(end, ",%s", GOOD);
    results r;
    const char *why = reading(text, (size_t)(end - text), &r);
    cr_assert(!*why && r.count == 1 && r.rows->ns == 10, "a long field: %.200s", why);
    results_free(&r);
    for (int i = 0; i < MANY; i++) text[i] = ',';
    end = text + MANY + sprintf(text + MANY, NEEDED);
    for (int i = 0; i < MANY; i++) *end++ = ',';
    end += sprintf(end, GOOD);
    why = reading(text, (size_t)(end - text), &r);
    cr_assert(!*why && r.count == 1 && r.rows->ns_high == 11, "many columns: %s", why);
    results_free(&r);
    end = text + sprintf(text, NEEDED);
    for (int i = MANY; i > 0; i--) end += sprintf(end, "a,i/x,c,%d,ok,%d,1,99999\n", i, i);
    why = reading(text, (size_t)(end - text), &r);
    cr_assert(!*why && r.count == MANY && results_find(&r, r.rows + 77)->ns == MANY - 77,
              "many rows: %s", why);
    results_free(&r);
    free(text);
}

/* Whatever the bytes, it answers; the sanitizers look on. */
Test(results, random_damage) {
    static const char seed[] = FULL
        "a,i/x,c,1,layernorm,forward,f32,4,8,1,normal,,ok,1,9,10,9,11,9,1,2,50,256,0,0,i/x,1,1,1,"
        "baseline,0.01,21,8,precise,\n\"b,\"\"\n\",i/x,c,2,,,,,,,,,fail,,,,,,,,,,,,,,,,,,,,,,\n";
    static const char hot[] = ",\"\n\r\0-+.e09x";
    uint64_t state = 1;
    size_t accepted = 0;
    for (int turn = 0; turn < 4000; turn++) {
        char text[sizeof seed];
        size_t size = sizeof seed - 1;
        memcpy(text, seed, size);
        for (int e = 0; e <= turn % 3; e++) {
            state = state * 6364136223846793005 + 1442695040888963407;
            text[(state >> 33) % size] = hot[(state >> 20) % sizeof hot];
        }
        if (turn % 5 == 0) size = (state >> 40) % size;
        results r;
        const char *why = reading(text, size, &r);
        if (*why) continue;
        accepted++;
        for (size_t i = 0; i < r.count; i++)
            if (results_find(&r, &r.rows[i]) != &r.rows[i] || r.rows[i].ns <= 0)
                cr_assert_fail("turn %d: row %zu is damaged and accepted", turn, i);
        results_free(&r);
    }
    cr_assert(accepted > 100 && accepted < 3900, "%zu of 4000 accepted", accepted);
}
