/* A program of another project, which normalizes one row with LayerNorm. (1, 2, 3, 4) has mean 2.5,
 * variance 1.25. SPDX-License-Identifier: MIT */
#include <normlab.h>
#include <stdio.h>

int main(void) {
    const float x[4] = {1, 2, 3, 4}, right[4] = {-1.3416408f, -0.4472136f, 0.4472136f, 1.3416408f};
    float y[4];
    nl_problem p = {.op = NL_LAYERNORM, .n = 1, .c = 4, .s = 1};
    if (nl_forward(NULL, &p, &(nl_forward_args){.x = x, .y = y}, nl_max_threads()) != NL_OK)
        return fprintf(stderr, "%s\n", nl_message()), 1;
    for (int i = 0; i < 4; i++)
        if (!(y[i] - right[i] < 1e-6f && right[i] - y[i] < 1e-6f))
            return fprintf(stderr, "y[%d] is %.9g, not %.9g\n", i, y[i], right[i]), 1;
    return puts("right") < 0;
}
