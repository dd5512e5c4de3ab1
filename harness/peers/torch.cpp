/* PyTorch's layers on the CPU, in eager mode, as a library that torch.c loads. Other PyTorch
 * operations compute what the layers lack (docs/peers.md).
 * SPDX-License-Identifier: MIT */
#include "normlab.h"
#include "torch_landing.h"

#include <ATen/Parallel.h>
#include <ATen/ops/_fused_rms_norm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/version.h>

#include <cstring>
#include <omp.h>
#include <vector>

namespace {

void (*note)(const char *text);

const at::ScalarType types[] = {at::kFloat, at::kHalf, at::kBFloat16}; /* per nl_dtype */

/* The caller's buffer as a tensor, cached until the buffer moves. */
const at::Tensor &view(at::Tensor &kept, const void *at, at::IntArrayRef sizes, at::ScalarType t) {
    if (!at)
        kept.reset();
    else if (!kept.defined() || kept.data_ptr() != at || kept.sizes() != sizes ||
             kept.scalar_type() != t)
        kept = at::from_blob(const_cast<void *>(at), sizes, t);
    return kept;
}

struct shape {
    const int64_t sizes[3];
    const at::IntArrayRef rows{sizes, 1}, row{sizes + 1, 1}, all;
    const at::ScalarType type;
    explicit shape(const nl_problem *p)
        : sizes{int64_t(p->n), int64_t(p->c), int64_t(p->s)}, all(sizes, p->s == 1 ? 2 : 3),
          type(types[p->dtype]) {
    }
    shape(const shape &) = delete; /* a copy would refer to this object's sizes */
};

/* gamma, or ones. A weight of ones is needed if dgamma is wanted, and for 16-bit tensors: without a
 * float weight PyTorch computes and saves their statistics in 16 bits. */
at::Tensor weight(at::Tensor &kept, const void *gamma, const shape &d, bool wanted) {
    if (gamma || !wanted) return view(kept, gamma, d.row, at::kFloat);
    kept.reset();
    static at::Tensor ones;
    const c10::InferenceMode off(false); /* autograd cannot save a tensor made in inference mode */
    if (!ones.defined() || ones.sizes() != d.row) ones = at::ones(d.row, at::kFloat);
    return ones;
}

void forward_now(const nl_problem *p, const nl_forward_args *a) {
    static at::Tensor kept[7];
    static int chosen[NL_QWEN2_RMSNORM + 1][NL_INFERENCE + 1];
    const c10::InferenceMode guard;
    const shape d(p);
    const bool sixteen = p->dtype != NL_F32, inference = p->pass == NL_INFERENCE;
    const bool afterwards = sixteen && p->casting == NL_CAST_BEFORE_WEIGHT;
    at::Tensor x = view(kept[0], a->x, d.all, d.type);
    if (a->residual) {
        x = x.to(at::kFloat).add(view(kept[1], a->residual, d.all, d.type));
        copy(a->residual_out, x, d.type);
        if (p->sum == NL_SUM_ROUNDED) x = x.to(d.type);
    }
    const at::Tensor gamma = weight(kept[2], afterwards ? nullptr : a->gamma, d, sixteen),
                     beta = view(kept[3], afterwards ? nullptr : a->beta, d.row, at::kFloat);
    landing l = {.at = a->y,
                 .bytes = p->n * p->c * p->s * at::elementSize(d.type),
                 .chosen = &chosen[p->op][p->pass]};
    at::Tensor y, mean, rstd;
    now = a->y != a->x && !afterwards && !a->residual ? &l : nullptr;
    if (p->op == NL_LAYERNORM) {
        std::tie(y, mean, rstd) = at::native_layer_norm(x, d.row, gamma, beta, p->eps);
    } else if (p->op == NL_RMSNORM) {
        std::tie(y, rstd) = at::_fused_rms_norm(x, d.row, gamma, p->eps);
    } else {
        const bool biased = p->biased_running_var && a->running_var && !inference;
        const std::vector<float> old(biased ? a->running_var : nullptr,
                                     biased ? a->running_var + p->c : nullptr);
        std::tie(y, mean, rstd) =
            at::native_batch_norm(x, gamma, beta, view(kept[5], a->running_mean, d.row, at::kFloat),
                                  view(kept[6], a->running_var, d.row, at::kFloat), !inference,
                                  p->momentum, p->eps);
        for (size_t j = 0; biased && j < p->c; j++) {
            const double r = rstd.const_data_ptr<float>()[j];
            a->running_var[j] =
                float((1 - p->momentum) * old[j] + p->momentum * (1 / (r * r) - p->eps));
        }
    }
    now = nullptr;
    if (afterwards) {
        y = y.to(d.type).to(at::kFloat);
        std::vector<int64_t> wide(d.all.size(), 1);
        wide[1] = d.sizes[1];
        if (a->gamma) y = y.mul(view(kept[2], a->gamma, d.row, at::kFloat).view(wide));
        if (a->beta) y = y.add(view(kept[3], a->beta, d.row, at::kFloat).view(wide));
    }
    if (!inference) copy(a->mean, mean, at::kFloat), copy(a->rstd, rstd, at::kFloat);
    land(l, y, d.type);
}

/* PyTorch's only backward of RMSNorm on the CPU is autograd's, which differentiates the operations
 * of a forward pass. That forward pass is not part of backward, so it is cached while x, gamma and
 * rstd stay the same. */
at::Tensor rms_backward(const nl_problem *p, const nl_backward_args *a, const shape &d,
                        const at::Tensor &dy, const at::Tensor &gamma, at::Tensor *dgamma) {
    static at::Tensor x, w, y;
    static std::vector<float> rstd;
    static const void *of[2];
    static float eps;
    const bool same = y.defined() && of[0] == a->x && of[1] == a->gamma && eps == p->eps &&
                      x.sizes() == d.all && x.scalar_type() == d.type &&
                      w.defined() == gamma.defined() &&
                      std::memcmp(rstd.data(), a->rstd, p->n * sizeof(float)) == 0;
    if (!same) {
        landing *before = now;
        now = nullptr;
        of[0] = a->x, of[1] = a->gamma, eps = p->eps;
        rstd.assign(a->rstd, a->rstd + p->n);
        x = at::from_blob(const_cast<void *>(a->x), d.all, d.type).requires_grad_();
        w = gamma.defined() ? gamma.detach().requires_grad_() : gamma;
        y = std::get<0>(at::_fused_rms_norm(x, d.row, w, p->eps));
        now = before;
    }
    torch::autograd::variable_list of_what = {x};
    if (a->dgamma) of_what.push_back(w);
    const auto made = torch::autograd::grad({y}, of_what, {dy}, true);
    if (a->dgamma) *dgamma = made[1];
    return made[0];
}

void backward_now(const nl_problem *p, const nl_backward_args *a) {
    static at::Tensor kept[8];
    static int chosen[NL_QWEN2_RMSNORM + 1];
    const shape d(p);
    const bool sixteen = p->dtype != NL_F32;
    at::Tensor x = view(kept[0], a->x, d.all, d.type), dy = view(kept[1], a->dy, d.all, d.type);
    const at::Tensor gamma = weight(kept[2], a->gamma, d, sixteen || a->dgamma),
                     beta = a->dbeta ? weight(kept[3], nullptr, d, true) : at::Tensor();
    const std::array<bool, 3> mask = {true, a->dgamma != nullptr, a->dbeta != nullptr};
    landing l = {.at = a->dx,
                 .bytes = p->n * p->c * p->s * at::elementSize(d.type),
                 .chosen = &chosen[p->op]};
    at::Tensor dx, dgamma, dbeta;
    now = a->dx != a->dy && !a->dresidual ? &l : nullptr;
    if (p->op == NL_RMSNORM) {
        dx = rms_backward(p, a, d, dy, gamma, &dgamma);
    } else {
        const c10::InferenceMode guard;
        const at::IntArrayRef groups = p->op == NL_LAYERNORM ? d.rows : d.row;
        const at::Tensor mean = view(kept[4], a->mean, groups, at::kFloat),
                         rstd = view(kept[5], a->rstd, groups, at::kFloat);
        if (p->op == NL_LAYERNORM)
            std::tie(dx, dgamma, dbeta) =
                at::native_layer_norm_backward(dy, x, d.row, mean, rstd, gamma, beta, mask);
        else
            std::tie(dx, dgamma, dbeta) = at::native_batch_norm_backward(dy, x, gamma, {}, {}, mean,
                                                                         rstd, true, p->eps, mask);
    }
    now = nullptr;
    const c10::InferenceMode guard;
    if (a->dresidual) dx = dx.to(at::kFloat).add(view(kept[6], a->dresidual, d.all, d.type));
    copy(a->dgamma, dgamma, at::kFloat), copy(a->dbeta, dbeta, at::kFloat);
    land(l, dx, d.type);
}

/* After an exception the outputs are still the harness's NaN, so the check fails. */
template <typename args>
void guarded(void (*run)(const nl_problem *, const args *), const nl_problem *p, const args *a,
             int threads) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    try {
        run(p, a);
    } catch (const std::exception &e) {
        note(e.what());
    }
    now = nullptr;
    omp_set_num_threads(before);
}

void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    guarded(forward_now, p, a, threads);
}

void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    guarded(backward_now, p, a, threads);
}

nl_impl impl(const char *name, nl_op op, unsigned more) {
    nl_impl made = {};
    made.name = name, made.isa = "c", made.about = "PyTorch " TORCH_VERSION ", eager";
    made.ops = NL_BIT(op), made.passes = NL_BIT(NL_FORWARD) | NL_BIT(NL_BACKWARD) | more;
    made.dtypes = NL_BIT(NL_F32) | NL_BIT(NL_F16) | NL_BIT(NL_BF16);
    made.threaded = true, made.method = NL_TWO_PASS, made.lanes = 1;
    made.forward = forward, made.backward = backward;
    return made;
}

} // namespace

/* The layers; an entry without a name ends the list. */
extern "C" NL_API const nl_impl *torch_layers(void (*for_people)(const char *text)) {
    static const nl_impl impls[] = {impl("peer/torch_batchnorm", NL_BATCHNORM,
                                         NL_BIT(NL_INFERENCE)),
                                    impl("peer/torch_layernorm", NL_LAYERNORM, 0),
                                    impl("peer/torch_rmsnorm", NL_RMSNORM, 0),
                                    {}};
    static allocator ours;
    note = for_people;
    c10::SetAllocator(c10::kCPU, &ours, 255);
    const int before = omp_get_max_threads();
    at::get_num_threads(); /* the first use sets OpenMP's number of threads */
    omp_set_num_threads(before);
    return impls;
}
