/* Tests covering arrays by brute force, for small tables in which some random classes must not
 * meet. Three classes that meet in a possible row must meet in a row of the array, and every row of
 * the array must be possible. SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "base/random.h"

#include <criterion/criterion.h>
#include <string.h>

enum { FEW = 5 };

static covering_table table;
static bool met[COVERING_CLASSES][COVERING_CLASSES][COVERING_CLASSES];
static size_t rows, impossible;

static bool possible(const size_t *row) {
    size_t product = 1;
    for (size_t d = 0; d < FEW; d++) {
        product *= table.factor[row[d]];
        for (size_t e = 0; e < FEW; e++)
            if (table.apart[row[d]][row[e]]) return false;
    }
    return product <= table.most;
}

static bool take(void *context, const size_t *row) {
    (void)context;
    rows++, impossible += !possible(row);
    for (size_t d = 0; d < FEW; d++)
        for (size_t e = d + 1; e < FEW; e++)
            for (size_t f = e + 1; f < FEW; f++) met[row[d]][row[e]][row[f]] = true;
    return true;
}

/* Tries every row, and counts the triples of classes in possible rows that the array lacks. */
static size_t missing(size_t *possible_rows) {
    size_t row[FEW], count = 0;
    memcpy(row, table.first, sizeof row);
    for (*possible_rows = 0;;) {
        const bool counts = possible(row);
        *possible_rows += counts;
        for (size_t d = 0; counts && d < FEW; d++)
            for (size_t e = d + 1; e < FEW; e++)
                for (size_t f = e + 1; f < FEW; f++) count += !met[row[d]][row[e]][row[f]];
        size_t d = 0;
        while (d < FEW && ++row[d] == table.first[d + 1]) row[d] = table.first[d], d++;
        if (d == FEW) return count;
    }
}

Test(covering, any_three_that_can_meet_do) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        size_t all = 0, next = 0;
        table = (covering_table){.dimensions = FEW, .most = 60};
        for (size_t d = 0; d < FEW; d++) {
            table.first[d] = all;
            all += 2 + (size_t)(random_uniform(seed, next++) * 4);
        }
        table.first[FEW] = all;
        for (size_t a = 0; a < all; a++) {
            /* the first class of a dimension may meet any class, so that some rows are possible */
            const bool free = a == table.first[0] || a == table.first[1] || a == table.first[2] ||
                              a == table.first[3] || a == table.first[4];
            table.factor[a] = free ? 1 : 1 + (size_t)(random_uniform(seed, next++) * 5);
            for (size_t b = 0; !free && b < a; b++)
                if (random_uniform(seed, next++) < 0.1)
                    table.apart[a][b] = table.apart[b][a] = true;
        }
        memset(met, 0, sizeof met), rows = impossible = 0;
        cr_assert(covering_make(&table, 99, take, NULL));
        size_t possible_rows;
        const size_t lacking = missing(&possible_rows);
        cr_expect(!lacking && !impossible && rows < possible_rows,
                  "seed %d: %zu triples lacking, %zu of %zu rows impossible; %zu possible",
                  (int)seed, lacking, impossible, rows, possible_rows);
    }
}

/* Counts the cases whose spelling has all three parts. */
static size_t have(const case_list *list, const char *const part[3]) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool all = true;
        for (size_t k = 0; k < 3; k++) all = all && strstr(list->items[i].text, part[k]);
        count += all;
    }
    return count;
}

static void expect_all(const case_list *list, const char *const parts[][3], size_t count,
                       uint64_t seed) {
    for (size_t k = 0; k < count; k++)
        cr_expect(have(list, parts[k]), "seed %d: no %s with %s and %s", (int)seed, parts[k][0],
                  parts[k][1], parts[k][2]);
}

/* The conditions of the table hold: classes meet in some row if and only if the table allows it. */
Test(covering, conditions_of_the_table) {
    static const char *const together[][3] = {
        {"layernorm/forward", "/no-beta", "/in-place=residual"},
        {"layernorm/forward", "/no-mean/no-rstd", "/residual/"},
        {"layernorm/forward", "/no-rstd", "/skew-mean="},
        {"rmsnorm/backward", "/dresidual=", "/in-place=dresidual"},
        {"rmsnorm/backward", "/gamma=normal", "/skew-gamma="},
        {"gated_rmsnorm/backward", "/no-gamma", "/inner="},
        {"gate_first_rmsnorm/backward", "/no-dgate", "/skew-gate="},
        {"gated_rmsnorm/forward", "/gap-gate=", "/parameters="},
        {"batchnorm/forward", "/no-running_mean", "/biased-running-var"},
        {"batchnorm/backward", "/no-dbeta", "/skew-dgamma="},
        {"batchnorm/inference/bf16", "/cast-before-weight", "/skew-y="},
        {"qwen2_rmsnorm/forward/f16", "/cast-before-weight", "/no-rstd"},
    };
    static const char *const apart[][3] = {
        {"forward", "/no-mean", "/skew-mean="},   {"", "/no-gamma", "/skew-gamma="},
        {"backward", "/no-dbeta", "/skew-dbeta"}, {"rms", "forward", "/no-beta"},
        {"rms", "backward", "/no-dbeta"},         {"f32", "", "/cast-before-weight"},
    };
    char error[700];
    for (uint64_t seed = 0; seed < 5; seed++) {
        case_list list = {0};
        cr_assert(covering_cases(&list, seed, error, sizeof error), "%s", error);
        expect_all(&list, together, sizeof together / sizeof *together, seed);
        for (size_t k = 0; k < sizeof apart / sizeof *apart; k++)
            cr_expect(!have(&list, apart[k]), "seed %d: %s with %s and %s", (int)seed, apart[k][0],
                      apart[k][1], apart[k][2]);
        cases_free(&list);
    }
}

/* In cases without strides, any two classes meet in each layer and type. */
Test(covering, pairs_without_strides) {
    static const char *const together[][3] = {
        {"layernorm/forward/f16/", "/in-place=residual", "/no-gamma"},
        {"rmsnorm/backward/f32/", "/in-place=dresidual", "/no-dgamma"},
        {"qwen2_rmsnorm/backward/bf16/", "/in-place=dresidual", "/eps=0"},
        {"rmsnorm/forward/bf16/", "/rounded-sum", "/cast-before-weight"},
        {"layernorm/forward/f32/", "/nan", "/no-beta"},
        {"gated_rmsnorm/backward/f16/", "/in-place=gate", "/no-gamma"},
        {"gate_first_rmsnorm/forward/f32/", "/in-place", "/no-rstd"},
    };
    char error[700];
    for (uint64_t seed = 0; seed < 2; seed++) {
        case_list list = {0};
        cr_assert(contiguous_cases(&list, seed, error, sizeof error), "%s", error);
        expect_all(&list, together, sizeof together / sizeof *together, seed);
        cr_expect(!have(&list, (const char *[]){"gap", "", ""}) &&
                      !have(&list, (const char *[]){"inner", "", ""}),
                  "strides");
        cases_free(&list);
    }
}
