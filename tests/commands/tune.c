/* Tests the tuning file and, with verdicts given by the test, the search for the smallest size that
 * pays. SPDX-License-Identifier: MIT */
#include "commands/tune.h"
#include "folder.h"
#include "tuning.h"

#include <stdint.h>

/* Verdicts as the letters F, S, = and ?, and the expected index. */
static void expect(const char *letters, size_t want, bool want_known) {
    static const char names[] =
        {[FASTER] = 'F', [SLOWER] = 'S', [SAME] = '=', [NOT_RESOLVED] = '?'};
    comparison verdicts[8];
    size_t n = strlen(letters);
    for (size_t i = 0; i < n; i++)
        verdicts[i] = (comparison)((const char *)memchr(names, letters[i], sizeof names) - names);
    bool known = !want_known;
    size_t from = tune_from(verdicts, n, &known);
    cr_assert(from == want && known == want_known, "%s: from %zu%s, not %zu%s", letters, from,
              known ? "" : " (not known)", want, want_known ? "" : " (not known)");
}

Test(tune, pays_from_the_least_size_that_wins_and_never_loses_above) {
    expect("SSFFF", 2, true);
    expect("FFFFF", 0, true);
    expect("SFSFF", 3, true);
    expect("SF=FF", 3, true);
    expect("SSSSF", 4, true);
}

Test(tune, never_pays_where_the_largest_size_does_not_win) {
    expect("SSSSS", 5, true);
    expect("FFFFS", 5, true);
    expect("FFFF=", 5, true);
}

Test(tune, what_is_not_resolved_decides_nothing) {
    expect("SS?FF", 3, true);
    expect("SF?F?", 1, true);
    expect("SF???", 1, true);
    expect("SS???", 5, false);
    expect("FFS?", 4, false);
    expect("????", 4, false);
}

/* A verdict compares what runs above a threshold with what runs below it. */
Test(tune, writes_no_value_that_loses) {
    const comparison again[] = {SLOWER, FASTER, NOT_RESOLVED, SAME, SLOWER, FASTER};
    cr_expect(tune_holds(again, 4, 1), "lower: FASTER, NOT_RESOLVED or SAME at 1 to 3");
    cr_expect_not(tune_holds(again, 4, 0), "slower at 0");
    cr_expect_not(tune_holds(again, 6, 1), "slower at 4");
    cr_expect(tune_holds(again, 2, 5), "higher: not FASTER at 2 to 4");
    cr_expect_not(tune_holds(again, 2, 6), "FASTER at 5");
    cr_expect(tune_holds(again, 0, 1));
    cr_expect(tune_holds(again, 3, 3), "nothing changes");
}

Test(tune, pays_in_both_states_of_the_caches) {
    static const comparison all[] = {FASTER, SLOWER, SAME, NOT_RESOLVED};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(tune_both(SLOWER, all[i]), SLOWER);
        cr_expect_eq(tune_both(all[i], all[i]), all[i]);
        for (int k = 0; k < 4; k++)
            cr_expect_eq(tune_both(all[i], all[k]), tune_both(all[k], all[i]));
    }
    cr_expect_eq(tune_both(FASTER, SAME), FASTER);
    cr_expect_eq(tune_both(FASTER, NOT_RESOLVED), NOT_RESOLVED);
    cr_expect_eq(tune_both(SAME, NOT_RESOLVED), NOT_RESOLVED);
}

/* Reads a file of two lines: `length` characters that begin with the text, and a valid line. */
static int read_with(const char *text, size_t length, nl_tuning *t) {
    char bytes[2000];
    memset(bytes, ' ', sizeof bytes);
    memcpy(bytes, text, strlen(text));
    strcpy(bytes + length, "\nfork_forward 77\n");
    spill(path, bytes, strlen(bytes));
    return nl_tuning_read(path, t);
}

Test(tune, lines_of_any_length) {
    enter_folder("tuning.txt");
    for (size_t i = 0; i < 40; i++) {
        const size_t length = (i < 20 ? 190 : 390) + i % 20;
        nl_tuning t = {0};
        int line = read_with("# a comment", length, &t);
        cr_assert(line == 0 && t.fork_forward == 77, "a comment of %zu: line %d", length, line);
        line = read_with("", length, &t);
        cr_assert(length > 198 ? line == 1 : line == 0, "%zu blanks: line %d", length, line);
        line = read_with("stream_bytes 4096", length, &t);
        cr_assert(length > 198 ? line == 1 : line == 0, "a key of %zu: line %d", length, line);
    }
    leave_folder();
}

Test(tune, values_are_taken_whole_or_refused) {
    static const struct {
        const char *text;
        size_t size; /* 0: until the first zero byte */
        int line;
        size_t stream_bytes;
    } files[] = {{"stream_bytes 4096 # half of L2\n", 0, 0, 4096},
                 {"stream_bytes 4096# half of L2", 0, 0, 4096},
                 {"\tstream_bytes\t007 \r\n\n", 0, 0, 7},
                 {"stream_bytes 18446744073709551615\n", 0, SIZE_MAX < UINT64_MAX, SIZE_MAX},
                 {"stream_bytes 18446744073709551616\n", 0, 1, 0},
                 {"#\nstream_bytes 99999999999999999999\n", 0, 2, 0},
                 {"stream_bytes 18446744073709551617\n", 0, 1, 0},
                 {"stream_bytes # 1\n", 0, 1, 0},
                 {"stream_bytes +1\n", 0, 1, 0},
                 {"stream_bytes\n1\n", 0, 1, 0},
                 {"stream_bytes\n", 0, 1, 0},
                 {"stream_bytes many\n", 0, 1, 0},
                 {"stream_bytes -1\n", 0, 1, 0},
                 {"stream_bytes 1 2\n", 0, 1, 0},
                 {"stream_bytes 1e6\n", 0, 1, 0},
                 {"fork_sideways 1\n", 0, 1, 0},
                 {"# fine\nnonsense\n", 0, 2, 0},
                 {"stream_bytes 1\nfork_forward 2\nstream_bytes 1\n", 0, 3, 1},
                 {"stream_bytes 4096\0"
                  "00\n",
                  21, 1, 0},
                 {"stream_bytes 1\n#\0\n", 18, 2, 1},
                 {"\0stream_bytes 1\n", 16, 1, 0},
                 {"", 0, 1, 0},
                 {"# nothing\n", 0, 2, 0}};
    enter_folder("tuning.txt");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        nl_tuning t = {0};
        spill(path, files[i].text, files[i].size ? files[i].size : strlen(files[i].text));
        int line = nl_tuning_read(path, &t);
        cr_expect(line == files[i].line && (line || t.stream_bytes == files[i].stream_bytes),
                  "file %zu, '%s': line %d, %zu", i, files[i].text, line, t.stream_bytes);
    }
    leave_folder();
}

/* The library keeps its defaults, and reports the bad file once, after the call that read it. */
Test(tune, a_bad_file_is_reported_once) {
    const float x[4] = {1, 2, 3, 4};
    float y[4];
    nl_problem p = {.op = NL_RMSNORM, .dtype = NL_F32, .n = 1, .c = 4, .s = 1};
    const nl_forward_args a = {.x = x, .y = y};
    char text[200];
    setenv("NL_TUNING", "/no/such/file", 1);
    cr_assert(nl_forward(NULL, &p, &a, 1) == NL_OK);
    cr_assert(strstr(nl_message(), "cannot read '/no/such/file'"), "\"%s\"", nl_message());
    nl_tuning_describe(text, sizeof text);
    cr_assert(strstr(text, "defaults: stream_bytes") == text, "%s", text);
    cr_assert(nl_forward(NULL, &p, &a, 0) == NL_BAD_ARGUMENT);
    cr_assert(nl_forward(NULL, &p, &a, 1) == NL_OK);
    cr_assert(strstr(nl_message(), "threads"), "again: \"%s\"", nl_message());
}
