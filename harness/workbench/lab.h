/* The labs of labs/, which the build embeds in the program.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "workbench/assignment.h"

#include <stdio.h>

/* The texts of a lab's files; NULL: the lab has no such file. */
typedef struct lab {
    const char *name; /* name of the lab's folder: "2-one-pass" */
    const char *page, *start, *assignment;
} lab;

const lab *lab_at(size_t i); /* NULL: i is too large */

/* Finds a lab by name, number or folder: "2-one-pass", "2", "labs/2-one-pass/". NULL: there is
 * none. */
const lab *lab_find(const char *name);

/* The title of the lab's page; and the time that the lab takes, "about 2 hours", or "". */
const char *lab_title(const lab *l, char text[100]);
const char *lab_takes(const lab *l, char text[100]);

/* Writes the page. The page's links lead into the project's folder, or become text if this machine
 * has no such folder. */
void lab_write_page(const lab *l, const char *project, FILE *out);

/* The folder from which this program was built. */
const char *lab_project(void);

/* Reads the assignment from a file, from a folder, or from a lab by lab_find(), in this order.
 * False: `error` has the reason. */
bool lab_assignment(const char *what, assignment *out, char *error, size_t error_size);
