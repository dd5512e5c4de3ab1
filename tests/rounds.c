/* The file of rounds that a fresh process writes: damage is noticed, never measured.
 * SPDX-License-Identifier: MIT */
#include "verbs/processes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ARMS = 3, ROUNDS = 4 };
static nl_case c = {.text = "layernorm/forward/f32/file/npy:a,b.npy"};
static const bench_round arms[ARMS] =
    {{.c = &c, .impl = "layernorm/naive", .isa = "c", .threads = 1},
     {.c = &c, .impl = "(baseline again)", .isa = "c", .threads = 1},
     {.c = &c, .impl = "(limit)", .isa = "-", .threads = 2}};

/* The text of whole rounds, with `from` replaced by `to` once. */
static bool read_with(const char *from, const char *to, measure *m) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    rounds_heading(out);
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t i = 0; i < ARMS; i++) {
            bench_round line = arms[i];
            line.round = r, line.position = (i + r) % ARMS, line.calls = 20;
            line.ns = 100.5 + (double)(10 * r + i);
            rounds_write(out, &line);
        }
    fclose(out);
    char *at = from ? strstr(text, from) : NULL, *damaged = malloc(size + 200);
    cr_assert(!from || at, "'%s' is in the file", from);
    if (from)
        sprintf(damaged, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    else
        strcpy(damaged, text);
    *m = (measure){.count = ARMS};
    FILE *in = fmemopen(damaged, strlen(damaged), "r");
    bool ok = rounds_read(in, arms, ARMS, m);
    fclose(in);
    free(text), free(damaged);
    return ok;
}

Test(rounds, are_read) {
    measure m;
    cr_assert(read_with(NULL, NULL, &m));
    cr_expect(m.rounds == ROUNDS && m.calls == 20);
    cr_expect(m.ns[ARMS * 2 + 1] == 121.5 && m.position[ARMS * 2 + 1] == 0);
    measure_free(&m);
}

Test(rounds, damage_is_noticed) {
    static const char *const damage[][2] =
        {{"layernorm/naive,c,1,0,1", "layernorm/two_pass,c,1,0,1"},
         {"(limit),-,2,0,3", "(limit),-,1,0,3"},
         {"(limit),-,2,0,3", "(limit),-,2,1,3"},
         {"naive,c,1,0,0,0,20", "naive,c,1,0,0,1,20"},
         {"naive,c,1,0,0,0,20", "naive,c,1,0,0,3,20"},
         {"naive,c,1,0,1,1,20", "naive,c,1,0,1,1,21"},
         {"naive,c,1,0,0,0,20", "naive,c,1,0,0,0,0"},
         {"100.5", "0"},
         {"100.5", "nan"},
         {"100.5", "inf"},
         {"100.5", "100.5,7"},
         {"132.5\n", "132.5"},
         {"\"layernorm/forward/f32/file/npy:a,b.npy\",(limit),-,2,0,3,2,20,132.5\n", ""},
         {"c,1,0,2,2,20,120.5\n", "c,1,0,"}};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        measure m;
        cr_expect(!read_with(damage[i][0], damage[i][1], &m), "'%s' instead of '%s' is read",
                  damage[i][1], damage[i][0]);
        measure_free(&m);
    }
}
