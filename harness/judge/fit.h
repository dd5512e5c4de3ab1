/* Fits numbers that explain an error best. SPDX-License-Identifier: MIT */
#ifndef NL_FIT_H
#define NL_FIT_H

#include "judge/formula.h"

/* The eps that best explains the scale of each group of y: the median over the groups. Negative: no
 * fit. */
double fit_eps(workspace *w);

/* A constant factor of y or dx, and a constant offset, independently, by least squares. */
void fit_line(workspace *w, double *factor, double *offset);

#endif
