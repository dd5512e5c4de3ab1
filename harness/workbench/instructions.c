/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"
#include "workbench/fence.h"

#include <stdio.h>
#include <string.h>

/* Is the word in a list of words between spaces? */
static bool in(const char *list, const char *word, size_t n) {
    for (const char *at = list; (at = strstr(at, " ")); at++)
        if (strncmp(at + 1, word, n) == 0 && (at[n + 1] == ' ' || !at[n + 1])) return true;
    return false;
}

static const char forbidden[] = " syscall sysenter int rdtsc rdtscp rdpmc svc hvc xgetbv vmcall";

/* Is it arithmetic of SSE or AVX in double, or of x87? The list leaves out the prefix v and the
 * endings 231, sd and pd. x87's control word is allowed. */
static bool is_x86_double(const char *name, size_t n) {
    static const char arithmetic[] = " add sub mul div sqrt min max hadd hsub addsub dp round "
                                     "rndscale reduce rcp14 rsqrt14 scalef fmadd fmsub fnmadd "
                                     "fnmsub fmaddsub fmsubadd";
    if (*name == 'f' && !in(" fldcw fnstcw fstcw fnstsw fninit", name, n)) return true;
    if (*name == 'v') name++, n--;
    if (n < 3 || (strncmp(name + n - 2, "sd", 2) != 0 && strncmp(name + n - 2, "pd", 2) != 0))
        return false;
    n -= 2;
    while (n && name[n - 1] >= '1' && name[n - 1] <= '3' && *name == 'f') n--;
    return in(arithmetic, name, n);
}

static bool is_arm_double(const char *name, size_t n, const char *rest) {
    static const char arithmetic[] = " fadd fsub fmul fdiv fsqrt fmadd fmsub fnmadd fnmsub fnmul "
                                     "fmla fmls fmin fmax fminnm fmaxnm faddp fabd frecpe frsqrte";
    const char *first = rest + strspn(rest, " \t");
    return in(arithmetic, name, n) && (*first == 'd' || strstr(rest, ".2d") || strstr(rest, ".d"));
}

static bool is_double(const char *name, size_t n, const char *rest) {
    if (PROCESSOR == PROCESSOR_X86_64) return is_x86_double(name, n);
    return PROCESSOR == PROCESSOR_AARCH64 && is_arm_double(name, n, rest);
}

/* Does the instruction convert f16, or call a function of the compiler's library that does:
 * __extendhfsf2, __truncsfhf2? */
static bool is_half(const char *name, size_t n, const char *rest) {
    const char *to = rest + strspn(rest, " \t");
    return in(" vcvtph2ps vcvtps2ph", name, n) || strstr(rest, "__extendhf") ||
           (strstr(rest, "__trunc") && strstr(rest, "fhf")) ||
           (in(" fcvt fcvtl fcvtn", name, n) &&
            (*to == 'h' || strstr(rest, ", h") || strstr(rest, "4h")));
}

/* Does it call the compiler's library, for arithmetic that the processor lacks? */
static bool is_soft(const char *rest) {
    static const char *const stems[] = {"__add", "__sub", "__mul", "__div"};
    rest += strspn(rest, " \t");
    if (strncmp(rest, "__bid_", 6) == 0 || strncmp(rest, "__dpd_", 6) == 0) return true;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (strncmp(rest, stems[i], 5) == 0 && strchr("dxt", rest[5]) && rest[6] == 'f')
            return true;
    return false;
}

/* The forbidden directives of the assembler read files, repeat, move or hide text, or put data into
 * text. Compilers never write these directives. */
static const char own_text[] = " .incbin .include .macro .rept .irp .irpc .altmacro .pushsection "
                               ".popsection .previous .subsection .if .ifdef .ifndef .inst .insn "
                               ".org .reloc";
static const char data[] =
    " .byte .2byte .4byte .8byte .short .hword .value .word .int .long .quad .octa .ascii .asciz "
    ".string .string8 .string16 .string32 .string64 .fill .zero .skip .space .float .single "
    ".double "
    ".dc .dc.b .dc.w .dc.l .dc.a .dcb .ds .uleb128 .sleb128";

static bool no_assembly(const char *name, size_t n, char *why, size_t size) {
    return snprintf(why, size, "it contains assembly (%.*s)", (int)n, name), false;
}

/* Does the statement contain a forbidden word, also behind a prefix, as in "rep syscall"? */
static bool is_forbidden(const char *statement) {
    for (size_t n; *(statement += strspn(statement, " \t")); statement += n)
        if (in(forbidden, statement, n = strcspn(statement, " \t"))) return true;
    return false;
}

/* Is this the text section, or another executable section? */
static bool is_text(const char *section) {
    const char *flags = strchr(section, '"');
    return strstr(section, ".text") || (flags && memchr(flags, 'x', strcspn(flags + 1, "\"") + 1));
}

/* One statement of the assembly; n: characters up to its first blank. */
static bool allowed(const char *name, size_t n, bool in_text, int rules, char *why, size_t size) {
    const char *rest = name + n;
    if (*name == '.')
        return !in(own_text, name, n) && !(in_text && in(data, name, n))
                   ? true
                   : no_assembly(name, n, why, size);
    if (is_forbidden(name) || strstr(rest, "cntvct"))
        return snprintf(why, size,
                        "it has the instruction %s: a kernel must not call the system or a clock",
                        name),
               false;
    if ((rules & NO_DOUBLE) && (is_double(name, n, rest) || is_soft(rest)))
        return snprintf(
                   why, size,
                   "the assignment forbids 'double', and the kernel computes in double (%.*s): a "
                   "constant without f, or a function without f?",
                   (int)n, name),
               false;
    if ((rules & NO_HALF) && is_half(name, n, rest))
        return snprintf(why, size,
                        "the assignment forbids '_Float16', and the compiler converts f16 (%.*s)",
                        (int)n, name),
               false;
    return true;
}

bool instructions_allowed(char *assembly, int rules, char *why, size_t size) {
    bool in_text = true;
    const char *mark = PROCESSOR == PROCESSOR_AARCH64 ? "//" : "#"; /* begins a comment */
    for (char *line = strtok(assembly, "\n"); line; line = strtok(NULL, "\n")) {
        const char *name = line + strspn(line, " \t");
        const size_t n = strcspn(name, " \t;");
        const bool quotes = strchr(name, '"'); /* separators inside quotes do not count */
        char *comment = quotes ? NULL : strstr(line, mark);
        if (comment) *comment = '\0';
        if (!*name || strncmp(name, mark, strlen(mark)) == 0) continue;
        if (*name == '/' || (!quotes && strstr(name, "/*")))
            return no_assembly("a comment", 9, why, size);
        if (name[n - 1] == ':' && !name[n + strspn(name + n, " \t")]) continue;
        if (in(" .section .text .data .bss", name, n)) in_text = is_text(name);
        if ((name == line && *name != '.') || name[n - 1] == ':' || (!quotes && strchr(name, ';')))
            return no_assembly(name, n, why, size);
        if (!allowed(name, n, in_text, rules, why, size)) return false;
    }
    return true;
}
