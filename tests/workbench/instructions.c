/* Assembly that no compiler writes must be found, and usual compiler output must be accepted.
 * SPDX-License-Identifier: MIT */
#include "workbench/fence.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool allows(const char *statement, int rules) {
    char text[300], why[300];
    snprintf(text, sizeof text,
             "\t.file\t\"a;b.c\"\n\t.text\nforward:\n.LFB0:\n\t.cfi_startproc\n%s\n\tret\n"
             "\t.section\t.rodata\n.LC0:\n\t.long\t7\n\t.string\t\"x; /* # y */\"\n",
             statement);
    return instructions_allowed(text, rules, why, sizeof why);
}

Test(instructions, of_its_own) {
    static const char *const own[] = {"\tsyscall",
                                      "syscall",
                                      "f:\tsyscall",
                                      "\trep syscall",
                                      "\tnop; syscall",
                                      "\t/**/ syscall",
                                      "\t/*\"*/syscall",
                                      "\trdtsc",
                                      "\t.incbin \"seed\"",
                                      "\t.pushsection .rodata",
                                      "\t.byte 15, 5",
                                      "\t.float 1",
                                      "\t.uleb128 3",
                                      "\t.org 64",
                                      "\t.section .own,\"ax\"\n\t.long 7",
                                      "\t.text\n\t.quad 7"};
    static const char *const usual[] = {"\tnop",
                                        "\tcall\tmemcpy@PLT",
                                        "\t.p2align 4,,10",
                                        ".L5:",
                                        "\t.loc 1 2 3",
                                        "\trep stosq",
                                        "\t.section\t.text.unlikely,\"ax\",@progbits",
                                        "\t.data\n\t.quad 7",
                                        "\t.section\t.data.rel.ro,\"aw\"\n\t.quad forward",
                                        "\t.ident\t\"C: (x) 1; 2\""};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        cr_expect(!allows(own[i], 0), "allowed: %s", own[i]);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        cr_expect(allows(usual[i], NO_DOUBLE | NO_HALF), "refused: %s", usual[i]);
}

Test(instructions, by_the_rules) {
    static const char *const wide[] = {"\tcall\t__addtf3@PLT", "\tcall\t__bid_adddd3@PLT"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        cr_expect(allows(wide[i], NO_HALF) && !allows(wide[i], NO_DOUBLE), "%s", wide[i]);
    cr_expect(allows("\tcall\t__extendhfsf2", NO_DOUBLE) &&
              !allows("\tcall\t__extendhfsf2", NO_HALF));
}
