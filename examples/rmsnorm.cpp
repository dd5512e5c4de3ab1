/* RMSNorm forward for --load, in C++:
 *
 *     c++ -std=c++20 -O2 -shared -fPIC -Iinclude examples/rmsnorm.cpp -o rmsnorm.so
 *
 * SPDX-License-Identifier: MIT */
#include "normlab_kernel.h"

#include <cmath>
#include <span>

namespace {

using row = std::span<float>;

/* Row r of a tensor; without a tensor, an empty row. */
row row_of(const void *tensor, std::size_t r, std::size_t c) {
    return tensor ? row(static_cast<float *>(const_cast<void *>(tensor)) + r * c, c) : row();
}

void forward(const nl_problem *p, const nl_forward_args *a, int) {
    const auto *gamma = static_cast<const float *>(a->gamma);
    for (std::size_t r = 0; r < p->n; r++) {
        const row x = row_of(a->x, r, p->c), residual = row_of(a->residual, r, p->c);
        const row y = row_of(a->y, r, p->c), residual_out = row_of(a->residual_out, r, p->c);
        const auto value = [&](std::size_t i) {
            return residual.empty() ? x[i] : x[i] + residual[i];
        };

        float squares = 0;
        for (std::size_t i = 0; i < p->c; i++) squares += value(i) * value(i);
        const float rstd = 1 / std::sqrt(squares / static_cast<float>(p->c) + p->eps);

        for (std::size_t i = 0; i < p->c; i++) { // y may alias x, and residual_out residual
            const float v = value(i);
            if (!residual_out.empty()) residual_out[i] = v;
            y[i] = v * rstd * (gamma ? gamma[i] : 1);
        }
        if (a->rstd) a->rstd[r] = rstd;
    }
}

const nl_impl rmsnorm = {.name = "cpp/rmsnorm",
                         .isa = "c",
                         .about = "the formula in C++",
                         .ops = NL_BIT(NL_RMSNORM),
                         .passes = NL_BIT(NL_FORWARD),
                         .dtypes = NL_BIT(NL_F32),
                         .c_max = 0,
                         .thresholds = nullptr,

                         .threaded = false,
                         .range_safe = false,
                         .demonstration = false,
                         .method = NL_TWO_PASS,
                         .lanes = 1,
                         .forward = forward,
                         .backward = nullptr,
                         .scratch = nullptr};

} // namespace

int normlab_kernel_abi() {
    return NL_KERNEL_ABI;
}

const nl_impl *normlab_kernel(std::size_t i) {
    return i == 0 ? &rmsnorm : nullptr;
}
