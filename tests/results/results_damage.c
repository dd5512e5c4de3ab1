/* Tests the reader of results with all kinds of damaged files. It must not accept a number that is
 * missing. SPDX-License-Identifier: MIT */
#include "results.h"

#include <sys/stat.h>

TestSuite(results_damage, .init = enter_results, .fini = leave_folder);

static const struct damage {
    const char *what, *text, *says;
} damages[] = {
    {"empty", "", ": it is empty"},
    {"no header", GOOD, ":1: no column case"},
    {"a header cut off", "case,impl", ":1: the header is cut off"},
    {"no ns_low", "case,impl,isa,threads,verdict,ns,ns_high\n", ":1: no column ns_low"},
    {"ns twice", "case,impl,isa,threads,verdict,ns,ns_low,ns_high,ns\n",
     ":1: 2 columns are called ns"},
    {"flag twice", "flag,case,impl,isa,threads,verdict,ns,ns_low,ns_high,flag\n",
     ":1: 2 columns are called flag"},
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

Test(results_damage, damage_is_refused) {
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        results r;
        const char *why = reading(damages[i].text, strlen(damages[i].text), &r);
        if (strncmp(why, damages[i].says, strlen(damages[i].says)) != 0)
            cr_assert_fail("%s: '%s', not '%s'", damages[i].what, why, damages[i].says);
        if (r.rows || r.sorted || r.facts || r.text)
            cr_assert_fail("%s: refused, but the results are not empty", damages[i].what);
    }
    static const char nul[] = NEEDED "a\0b,i/x,c,1,ok,10,9,11\n";
    results r;
    const char *why = reading(nul, sizeof nul - 1, &r);
    cr_assert(strstr(why, ":2: byte 0x00"), "a NUL byte: '%s'", why);
}

Test(results_damage, what_is_no_file_is_refused) {
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
