/* The subcommands of the program. argv[0] is the subcommand's name; the result is the exit code.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/options.h"

int cmd_list(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_grade(int argc, char **argv);
int cmd_count(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_judge(int argc, char **argv);
int cmd_limit(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_claims(int argc, char **argv);
int cmd_tune(int argc, char **argv);
