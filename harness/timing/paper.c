/* The paper's tables, transcribed; tests/claims/claims.c recomputes the paper's percentages.
 * SPDX-License-Identifier: MIT */
#include "timing/paper.h"

#include <math.h>
#include <string.h>

/* Times are seconds per 1000 steps; in T6 and T8 per 100 steps, in T10 per epoch. GPU: TITAN X
 * (Pascal); T4 a V100, T10 an RTX 2080 Ti. pRMSNorm reads 6.25 % (T10: 12.5 %) of the features. */
const paper_row paper_rows[] = {
    {"T2", "RNNSearch GRU, TensorFlow", {399, 3.40}, {665, 32.5}, {501, 11.8}, {493, 10.7}},
    {"T3-Theano", "RNNSearch, Theano", {596, 20.8}, {988, 1.10}, {652, 24.1}, {658, 17.9}},
    {"T3-PyTorch", "RNNSearch, PyTorch", {427, 6.50}, {857, 17.2}, {763, 16.2}, {754, 36.1}},
    {"T4", "Transformer base, TensorFlow", {210, 0.23}, {248, 1.31}, {231, 0.04}, {225, 1.63}},
    {"T6", "Attentive reader, Theano", {315, 6.30}, {392, 5.70}, {333, 5.20}, {330, 5.50}},
    {"T8", "Order embedding, Theano", {2.11, 0.047}, {12.02, 0.191}, {7.12, 0.207}, {4.34, 0.168}},
    {"T10", "ConvPool CIFAR-10", {21, 0}, {39, 0.4}, {31, 0.5}, {30, 0.4}},
};
const size_t paper_rows_count = sizeof paper_rows / sizeof *paper_rows;

const paper_row *paper_find(const char *table) {
    for (size_t i = 0; i < paper_rows_count; i++)
        if (strcmp(paper_rows[i].table, table) == 0) return &paper_rows[i];
    return NULL;
}

double paper_share(const paper_row *r) {
    return (r->layernorm.seconds - r->none.seconds) / r->layernorm.seconds;
}

/* The squared relative errors of dividend and divisor add up to the quotient's. */
paper_time paper_saving(const paper_row *r, paper_time with) {
    double ratio = with.seconds / r->layernorm.seconds;
    double relative = hypot(with.error / with.seconds, r->layernorm.error / r->layernorm.seconds);
    return (paper_time){1 - ratio, ratio * relative};
}
