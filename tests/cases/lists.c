/* Tests lists of cases: the expansion of braces, files of cases, and the files of experiments/.
 * SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "folder.h"
#include "support.h"

#include <glob.h>

static char error[700];

static void add(case_list *list, const char *text) {
    if (!cases_add(list, text, error, sizeof error)) cr_assert_fail("%s", error);
}

/* A shape with braces, and the shapes that it expands to, in order. */
Test(case_lists, braces) {
    char good[] = "2x3 2x3;{1..4}x2 1x2 2x2 3x2 4x2;1x{1..22+7} 1x1 1x8 1x15 1x22;"
                  "1x{1..21+7} 1x1 1x8 1x15;1x{128..8192*4} 1x128 1x512 1x2048 1x8192;"
                  "1x{3..80*3} 1x3 1x9 1x27;1x{5..5} 1x5;{7}x{8} 7x8;{1,2}x{3,4} 1x3 1x4 2x3 2x4;"
                  "1x2{,x3} 1x2 1x2x3;1x2{x3,} 1x2x3 1x2;1x2{,x3{,4}} 1x2 1x2x3 1x2x34;"
                  "1x{2,{4..6+2},{{8},9}} 1x2 1x4 1x6 1x8 1x9;"
                  "1x1{0..1}x{1..256*16} 1x10x1 1x10x16 1x10x256 1x11x1 1x11x16 1x11x256;"
                  "{18446744073709551613..18446744073709551615+2}x1 18446744073709551613x1 "
                  "18446744073709551615x1;{1..18446744073709551615*4294967296}x1 1x1 4294967296x1";
    for (char *t = strtok(good, ";"); t; t = strtok(NULL, ";")) {
        char text[300], all[1000] = "";
        int length = (int)strcspn(t, " ");
        case_list list = {0};
        snprintf(text, sizeof text, "{batchnorm}/inference/f32/%.*s/nan", length, t);
        add(&list, text);
        for (size_t j = 0; j < list.count; j++) {
            const char *shape = list.items[j].text + strlen("batchnorm/inference/f32/");
            strncat(strcat(all, " "), shape, strcspn(shape, "/"));
        }
        if (strcmp(all, t + length)) cr_assert_fail("%s: is '%s'", text, all);
        cases_free(&list);
    }
}

/* A repeated case is added once, at its first position. */
Test(case_lists, repeated) {
    case_list list = {0};
    char all[200] = "";
    const char *const texts[] = {"rmsnorm/forward/f32/1x{3,1,2,1}/nan",
                                 "rmsnorm/forward/f32/1x{2,4}/nan",
                                 "rmsnorm/forward/f32/1x{4,3,5}/nan"};
    for (size_t i = 0; i < 3; i++) add(&list, texts[i]);
    for (size_t i = 0; i < list.count; i++)
        sprintf(all + strlen(all), " %zu", list.items[i].problem.c);
    cr_assert_str_eq(all, " 3 1 2 4 5");
    cases_free(&list);
}

/* Adding cases takes linear time. Comparing each case with all others would take minutes here. */
Test(case_lists, long_lists, .timeout = 60) {
    case_list list = {0};
    add(&list, "rmsnorm/forward/f32/{1..300}x{1..1000}/nan");
    cr_assert(list.count == 300000, "%zu cases", list.count);
    for (size_t i = 0; i < list.count; i++) {
        const nl_problem *p = &list.items[i].problem;
        if (p->n != i / 1000 + 1 || p->c != i % 1000 + 1)
            cr_assert_fail("case %zu is %s", i, list.items[i].text);
    }
    cases_free(&list);
}

/* Repeated cases count towards the limit, since reading them takes time: without this, the list of
 * 2^40 copies below would take forever. */
Test(case_lists, endless) {
    char text[300] = "rmsnorm/forward/f32/1x1/nan";
    case_list list = {.tried = CASES_MAX - 100};
    for (int i = 0; i < 40; i++) strcat(text, "{,}");
    if (cases_add(&list, text, error, sizeof error) || !strstr(error, "more than 1000000 cases"))
        cr_assert_fail("\"%s\"", error);
    cr_assert(list.count == 1, "%zu cases", list.count);
    cases_free(&list);
}

/* A file has one case per line; an error message has the line's number. */
Test(case_lists, files) {
    static const struct {
        const char *text, *says;
        size_t count;
    } files[] = {
        {"#\n\n  rmsnorm/forward/f32/1x{1,2}/nan # so\r\n\t\nrmsnorm/forward/f16/3x3/nan", "", 3},
        {"#%*c rmsnorm/forward/f32/1x1/nan\nrmsnorm/forward/f32/1x2/nan\n", "", 1},
        {" \n\nrmsnorm/forward/f33/1x2/nan\n", ":3: case rmsnorm/forward/f33/1x2/nan: 'f33'", 0},
        {"rmsnorm/forward/f32/1x2/nan rmsnorm/forward/f32/1x3/nan\n", ":1: ", 0},
        {"\nrmsnorm/forward/f32/1x2/\x1b[31mnan\n", ":2: byte 0x1b", 0},
        {"rmsnorm/forward/f32/1x2/nan\n# \x7f\n", ":2: byte 0x7f", 0},
    };
    char says[400];
    enter_folder("cases.txt");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        case_list list = {0};
        FILE *f = fopen(path, "w");
        cr_assert(f && fprintf(f, files[i].text, 5000, '.') > 0 && fclose(f) == 0, "%s", path);
        bool ok = cases_add_file(&list, path, error, sizeof error), should = files[i].count;
        snprintf(says, sizeof says, "%s%s", path, files[i].says);
        bool right = ok ? list.count == files[i].count : !strncmp(error, says, strlen(says));
        if (!right || ok != should) cr_assert_fail("file %zu: %zu cases; %s", i, list.count, error);
        cases_free(&list);
    }
    leave_folder();
    bool gone = !cases_add_file(&(case_list){0}, path, error, sizeof error);
    cr_assert(gone && strstr(error, path), "a file that is gone: %s", error);
}

static bool is_study(const char *path) {
    char text[4096] = "";
    FILE *f = fopen(path, "r");
    bool found = f && fread(text, 1, sizeof text - 1, f) && strstr(text, "# command: study");
    if (f) fclose(f);
    return found;
}

/* A study has no cases. Every other experiment has cases, and some implementation accepts them. */
Test(case_lists, experiments) {
    glob_t files;
    cr_assert(!chdir(NL_SOURCE_DIR) && !glob("experiments/*.txt", 0, NULL, &files), "no files");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        case_list list = {0};
        bool ok = cases_add_file(&list, files.gl_pathv[i], error, sizeof error);
        if (!ok || !list.count != is_study(files.gl_pathv[i]))
            cr_assert_fail("%s: %s", files.gl_pathv[i],
                           !ok          ? error
                           : list.count ? "not empty"
                                        : "empty");
        for (size_t j = 0; j < list.count; j++)
            if (!nl_best(&list.items[j].problem, 1))
                cr_assert_fail("%s: no implementation accepts %s", files.gl_pathv[i],
                               list.items[j].text);
        cases_free(&list);
    }
    globfree(&files);
}
