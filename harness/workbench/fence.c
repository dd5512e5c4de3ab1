/* SPDX-License-Identifier: MIT */
#include "workbench/fence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1 << 20, PREPROCESSED_MOST = 64 << 20 };

/* A kernel may use all of C and this project, except files, its own threads, and the clock. */
static const char usual_headers[] =
    "kernel.h vec/vec.h parallel.h normlab.h normlab_kernel.h assert.h complex.h ctype.h errno.h "
    "fenv.h "
    "float.h inttypes.h iso646.h limits.h math.h stdalign.h stdbool.h stddef.h stdint.h stdio.h "
    "stdlib.h string.h tgmath.h omp.h immintrin.h x86intrin.h xmmintrin.h emmintrin.h arm_neon.h";

/* Machine code, even in names that reach the assembler, could do things that the list of symbols
 * forbids; #embed could copy a secret file; a jump could leave a thread behind. */
static const char always[] =
    "asm __asm __asm__ section __section__ embed weakref __weakref__ alias __alias__ ifunc "
    "__ifunc__ symver __symver__ ident sccs __builtin_longjmp __builtin_setjmp "
    "__builtin_eh_return __builtin_unwind_init __builtin_return_address __builtin_frame_address "
    "__REDIRECT __REDIRECT_NTH __REDIRECT_NTHNL __REDIRECT_FORTIFY __REDIRECT_FORTIFY_NTH "
    "__REDIRECT_LDBL __REDIRECT_NTH_LDBL __ASMNAME __ASMNAME2 __LDBL_REDIR __LDBL_REDIR1 "
    "__LDBL_REDIR2_DECL __LDBL_REDIR_NTH __LDBL_REDIR1_NTH";

/* Reads a file of fewer than `most` bytes as text. NULL: the file cannot be read, or is larger. */
static char *read_text(const char *folder, const char *name, size_t most) {
    char path[2 * COMMAND_PATH];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(most + 1) : NULL;
    const size_t n = text ? fread(text, 1, most, f) : 0;
    const bool whole = text && n < most && !ferror(f);
    if (f) fclose(f);
    if (!whole) return free(text), NULL;
    for (size_t i = 0; i < n; i++)
        if (!text[i]) text[i] = ' '; /* a NUL would end the text here, but compilers ignore NULs */
    text[n] = '\0';
    return text;
}

static FILE *create(const compiled *c, const char *name) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    return fopen(path, "w");
}

static bool write_text(const compiled *c, const char *name, const char *text) {
    FILE *f = create(c, name);
    const bool ok = f && fputs(text, f) >= 0;
    return f && fclose(f) == 0 && ok;
}

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Poisons the identifiers of a preprocessed text that begin with `stem` and are not allowed. */
static void poison_all(FILE *f, const char *stem, const assignment *rules, const char *text) {
    const size_t length = strlen(stem);
    char word[200];
    for (const char *at = text; (at = strstr(at, stem));) {
        const char *end = at + length;
        while (is_letter(*end)) end++;
        snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        if ((at == text || !is_letter(at[-1])) && !word_list_has(&rules->allowed, word))
            fprintf(f, " %s", word);
        at = end;
    }
}

/* rules.c includes rules.h, and then the file. rules.h includes each allowed header that the text
 * mentions, then end.h, which poisons words. So no macro of the file can change a header, and words
 * in headers do not count as words of the file. */
static bool write_rules(const compiled *c, const assignment *rules, const char *source,
                        const char *preprocessed) {
    const char *headers = *rules->headers ? rules->headers : usual_headers;
    char name[64];
    FILE *f = create(c, "rules.h");
    if (!f) return false;
    fputs("#pragma GCC system_header\n", f);
    for (int n; sscanf(headers, "%63s%n", name, &n) == 1; headers += n)
        if (strstr(source, name)) fprintf(f, "#include \"%s\"\n", name);
    fputs("#include \"end.h\"\n", f);
    if (fclose(f) != 0 || !(f = create(c, "end.h"))) return false;
    fprintf(f, "#pragma GCC system_header\n#pragma GCC poison %s", always);
    for (size_t i = 0; i < rules->forbidden.count; i++) {
        const char *word = rules->forbidden.words[i];
        const size_t stem = strcspn(word, "*");
        snprintf(name, sizeof name, "%.*s", (int)stem, word);
        if (!word[stem])
            fprintf(f, " %s", word);
        else if (preprocessed)
            poison_all(f, name, rules, preprocessed);
    }
    fputc('\n', f);
    return fclose(f) == 0;
}

/* Checks the compiler's list of opened files: each line has dots, for the depth, and a name. After
 * end.h the compiler may open only the file itself and headers that it has opened before, since
 * some headers are read repeatedly. */
static bool includes_allowed(const char *messages, char *error, size_t size) {
    const char *end = strstr(messages, "/end.h\n"), *line = end ? strchr(end, '\n') + 1 : NULL;
    if (!line) return snprintf(error, size, "the compiler does not list what it includes"), false;
    while ((line = strchr(line, '\n'))) {
        line++;
        const char *name = line + strspn(line, ".");
        const int length = (int)strcspn(name, "\n");
        char entry[COMMAND_PATH];
        snprintf(entry, sizeof entry, "%.*s\n", length, name);
        const char *known = strstr(messages, entry);
        if (*line != '.' || *name != ' ' || known < end) continue;
        snprintf(error, size,
                 "it includes%.*s, which is not among the headers that this assignment allows",
                 length, name);
        return false;
    }
    return true;
}

static bool is_always(const char *word, int length) {
    for (const char *at = always; *at; at += strcspn(at, " "), at += *at == ' ')
        if ((int)strcspn(at, " ") == length && strncmp(at, word, (size_t)length) == 0) return true;
    return false;
}

/* Turns the compiler's message about a poisoned word, FILE:LINE:COLUMN: ..., into a sentence. */
static bool words_allowed(const char *messages, const char *source, char *error, size_t size) {
    const char *poisoned = strstr(messages, "poisoned"), *line = poisoned, *at = source;
    int row = 0, column = 0;
    if (!poisoned) return true;
    while (line > messages && line[-1] != '\n') line--;
    const char *colon = strstr(line, ".c:");
    if (!colon || sscanf(colon, ".c:%d:%d", &row, &column) != 2) row = 0;
    for (int i = 1; i < row && at; i++) at = strchr(at, '\n'), at += at != NULL;
    if (row && at && (size_t)column <= strcspn(at, "\n")) at += column - 1;
    int length = 0;
    while (row && at && is_letter(at[length])) length++;
    if (length)
        snprintf(error, size, "%s forbids '%.*s' (line %d)",
                 is_always(at, length) ? "grading" : "the assignment", length, at, row);
    else
        snprintf(error, size, "the assignment forbids a word: %.*s", (int)strcspn(line, "\n"),
                 line);
    return false;
}

/* Removes the lines that lead from rules.c to the file. */
static const char *own_part(const char *messages) {
    while (strncmp(messages, "In file included from", 21) == 0)
        messages += strcspn(messages, "\n") + 1;
    return messages;
}

static bool run(const compiled *c, const char *words, const char *output, const char *messages,
                char *error, size_t size) {
    command run = {.count = 0};
    compile_flags(c, &run);
    command_words(&run, words);
    return command_run_fenced(&run, c->folder, output, messages, error, size);
}

/* Quotes the compiler's messages from the first error on, without the list of files of -H. */
static void say_error(const char *messages, char *error, size_t size) {
    const char *at = strstr(messages, "error:"),
               *list = at ? strstr(at, "\nMultiple include") : NULL;
    while (at && at > messages && at[-1] != '\n') at--;
    const int most = 1200, length = list && list - at < most ? (int)(list - at) : most;
    snprintf(error, size, "it does not compile\n%.*s", length, at ? at : messages);
}

/* Only preprocesses, into kernel.i. Checks the list of included files before it quotes a message of
 * the compiler, because the message could show a secret file. */
static bool check_text(const compiled *c, const assignment *rules, const char *source, char *error,
                       size_t size) {
    const bool whole = run(c, "-E -H ./rules.c", "kernel.i", "messages", error, size);
    char *messages = read_text(c->folder, "messages", PREPROCESSED_MOST);
    char *text = read_text(c->folder, "kernel.i", PREPROCESSED_MOST);
    bool ok = !*error && messages && text;
    if (!ok && !*error) snprintf(error, size, "the file is too long, together with its headers");
    ok = ok && includes_allowed(messages, error, size) &&
         words_allowed(messages, source, error, size) && write_rules(c, rules, source, text);
    if (ok && !whole) say_error(messages, error, size);
    free(messages), free(text);
    return ok && whole;
}

static bool translate(const compiled *c, const assignment *rules, const char *source, char *error,
                      size_t size) {
    /* compiles the checked text: preprocessing the file again could differ (__has_include) */
    if (!run(c, "-S -o kernel.s ./kernel.i", NULL, "messages", error, size)) {
        char *messages = *error ? NULL : read_text(c->folder, "messages", PREPROCESSED_MOST);
        if (messages && words_allowed(messages, source, error, size))
            snprintf(error, size, "it does not compile\n%.1200s", own_part(messages));
        return free(messages), false;
    }
    char *text = read_text(c->folder, "kernel.s", PREPROCESSED_MOST);
    const bool ok =
        text &&
        instructions_allowed(text,
                             (word_list_has(&rules->forbidden, "double") ? NO_DOUBLE : 0) |
                                 (word_list_has(&rules->forbidden, "_Float16") ? NO_HALF : 0),
                             error, size);
    if (!text) snprintf(error, size, "it is too long when compiled");
    return free(text), ok && run(c, "-shared kernel.s -lm -o kernel.so", NULL, NULL, error, size);
}

bool fence_kernel(const char *file, const assignment *rules, compiled *c, char *error,
                  size_t size) {
    char name[80], both[160];
    *error = '\0';
    if (!compile_prepare(file, c, error, size)) return false;
    char *source = read_text("", file, TEXT_MOST);
    snprintf(name, sizeof name, "%s.c", strchr(c->name, '/') + 1);
    if (strcmp(name, "rules.c") == 0) *name = '_';
    snprintf(both, sizeof both, "#include \"./rules.h\"\n#include \"./%s\"\n", name);
    if (!source)
        return snprintf(error, size, "it has more than %d characters", TEXT_MOST - 1), false;
    const bool written = write_text(c, name, source) && write_text(c, "rules.c", both) &&
                         write_rules(c, rules, source, NULL);
    if (!written) snprintf(error, size, "cannot write into %s", c->folder);
    const bool ok = written && check_text(c, rules, source, error, size) &&
                    /* again: the first check wrote the words that begin with a stem into end.h */
                    check_text(c, rules, source, error, size) &&
                    translate(c, rules, source, error, size);
    free(source);
    return ok;
}
