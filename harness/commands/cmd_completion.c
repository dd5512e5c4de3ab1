/* `normlab completion SHELL`: prints a shell script that at each Tab calls `normlab completion --
 * WORDS...`, which prints the candidates for the last word. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "layer.h"
#include "cli/options.h"
#include "commands/commands.h"
#include "workbench/lab.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "normlab completion bash|zsh|fish\n\n"
    "Prints a script that makes Tab complete commands, options, implementations, cases, layers "
    "and\n"
    "labs. The script asks this program at each Tab, so it needs no updates.\n\n"
    "Examples:\n"
    "  normlab completion bash > ~/.local/share/bash-completion/completions/normlab\n"
    "  eval \"$(normlab completion zsh)\"\n"
    "  normlab completion fish > ~/.config/fish/completions/normlab.fish\n";

/* Without candidates the shell completes files. No space follows a '/': the case continues. */
static const struct script {
    const char *shell, *text;
} scripts[] = {
    {"bash",
     "_normlab() {\n"
     "    local IFS=$'\\n'\n"
     "    COMPREPLY=($(normlab completion -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
     "    [[ ${COMPREPLY[0]-} != */ ]] || compopt -o nospace\n"
     "}\n"
     "complete -o bashdefault -o default -F _normlab normlab\n"},
    {"zsh",
     "#compdef normlab\n"
     "_normlab() {\n"
     "    local -a found end\n"
     "    found=(${(f)\"$(normlab completion -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
     "    [[ ${found[1]-} != */ ]] || end=(-S '')\n"
     "    (( $#found )) && compadd \"${(@)end}\" -a found || _files\n"
     "}\n"
     "if [[ $funcstack[1] = _normlab ]]; then _normlab; else compdef _normlab normlab; fi\n"},
    {"fish", "complete -c normlab -a '(normlab completion -- (commandline -opc)[2..-1] "
             "(commandline -ct) 2>/dev/null)'\n"},
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

/* The typed part of the word to complete, and the option before the word. */
static struct line {
    const char *last, *option;
    char before[64]; /* the part "--option=" of the last word */
    bool is_value;
} line;

static void offer(const char *word) {
    if (strncmp(word, line.last, strlen(line.last)) == 0) printf("%s%s\n", line.before, word);
}

static void take_option(const option_spec *o) {
    char word[64];
    snprintf(word, sizeof word, "--%s", o->name);
    if (line.last[0] == '-') offer(word);
    line.is_value |= o->kind != OPTION_FLAG && o->kind != OPTION_MAYBE && line.option &&
                     strcmp(word, line.option) == 0;
}

static void offer_implementations(void) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        size_t k = i;
        while (k > 0 && strcmp(nl_impl_at(k - 1)->name, nl_impl_at(i)->name) != 0) k--;
        if (k == 0) offer(nl_impl_at(i)->name);
    }
    offer("best");
}

/* Completes LAYER/PASS/TYPE/: these parts have few choices. */
static void offer_cases(void) {
    for (nl_op op = 0; op < NL_OPS; op++)
        for (nl_pass pass = 0; pass < NL_PASSES; pass++)
            for (int type = 0; nl_takes(op, pass) && type < NL_DTYPES; type++) {
                char word[100];
                snprintf(word, sizeof word, "%s/%s/%s/", nl_op_name(op), nl_pass_name(pass),
                         dtype_name(type));
                offer(word);
            }
}

static void offer_words(subcommand_words words, int before) {
    if (words == OF_CASES || (words == OF_FILE_CASES && before > 0)) offer_cases();
    if (words == OF_IMPLEMENTATIONS) offer_implementations();
    if (before > 0) return;
    for (size_t i = 0; words == OF_LAB && lab_at(i); i++) offer(lab_at(i)->name);
    for (int op = 0; words == OF_LAYER && op < NL_OPS; op++) offer(op_name(op));
    for (int i = 0; words == OF_SHELL && i < SCRIPTS; i++) offer(scripts[i].shell);
}

/* words: those after `normlab`; the last word is unfinished. */
static void complete(int count, char **words) {
    const struct subcommand *v = NULL;
    const bool of_command = count == 1 || (count == 2 && strcmp(words[0], "help") == 0);
    line.last = words[count - 1];
    for (size_t i = 0; i < subcommands_count; i++) {
        if (of_command) offer(subcommands[i].name);
        if (strcmp(subcommands[i].name, words[0]) == 0) v = &subcommands[i];
    }
    if (count == 1) offer("help"), offer("--help"), offer("--version");
    if (!v || count == 1) return;
    int at = count - 2; /* bash splits --option=value: its = is a word */
    if (at > 1 && strcmp(words[at], "=") == 0) at--;
    if (strcmp(line.last, "=") == 0) line.last = "";
    if (at > 0) line.option = words[at];
    char *end = strchr(line.last, '=');
    if (strncmp(line.last, "--", 2) == 0 && end && end - line.last < 60) {
        snprintf(line.before, sizeof line.before, "%.*s", (int)(end + 1 - line.last), line.last);
        *end = '\0', line.option = line.last, line.last = end + 1;
    }
    options_shown = take_option;
    v->run(1, (char *[]){words[0], NULL});
    options_shown = NULL;
    if (line.last[0] == '-' && !line.is_value) offer("--help");
    const bool names = line.is_value && (strcmp(line.option, "--impl") == 0 ||
                                         strcmp(line.option, "--baseline") == 0);
    if (names) offer_implementations();
    if (!line.is_value && line.last[0] != '-') offer_words(v->words, count - 2);
}

int cmd_completion(int argc, char **argv) {
    int first, code = options_read(argc, argv, help, NULL, 0, true, &first);
    if (code != OPTIONS_DONE) return code;
    if (argc > 2 && strcmp(argv[1], "--") == 0) return complete(argc - 2, argv + 2), NL_EXIT_OK;
    for (int i = 0; i < SCRIPTS && argc == 2; i++)
        if (strcmp(argv[1], scripts[i].shell) == 0)
            return fputs(scripts[i].text, stdout), NL_EXIT_OK;
    return options_fail("which SHELL: bash, zsh or fish?"), options_see_help();
}
