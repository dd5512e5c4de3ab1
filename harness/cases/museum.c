/* The exhibits. A row of a row norm has the same values as a channel of BatchNorm in the transposed
 * shape, so all layers normalize the same groups. SPDX-License-Identifier: MIT */
#include "cases/museum.h"
#include "base/random.h"
#include "layer.h"

#include <stdio.h>
#include <string.h>

static double z(size_t group, size_t e) {
    return random_normal(NL_X, ((uint64_t)group << 32) + e);
}

static double pt51102(size_t group, size_t e) {
    return 2000 + z(group, e);
}

static double pt40302(size_t group, size_t e) {
    return 100 + 0.01 * z(group, e);
}

static double ort28463(size_t group, size_t e) {
    (void)group;
    return 80000 + (double)e;
}

static double ort21935(size_t group, size_t e) {
    (void)group, (void)e;
    return 1234;
}

static double ort31973(size_t group, size_t e) {
    return 1e5 + 1e-2 * z(group, e);
}

static double mlx2238(size_t group, size_t e) {
    static const double x[] = {1449.570556640625,  1448.8741455078125, 1450.650390625,
                               1449.2633056640625, 1449.7763671875,    1449.317138671875,
                               1449.3297119140625, 1449.077880859375,  1449.2181396484375,
                               1449.4329833984375, 1449.1605224609375, 1449.413330078125,
                               1449.7933349609375, 1450.066650390625,  1449.7762451171875,
                               1450.364990234375};
    (void)group;
    return x[e % 16];
}

static double burn5607(size_t group, size_t e) {
    static const double mean[] = {100, 1000, 10000};
    return mean[group % 3] + (double)e * 1e-3;
}

static double pt108072(size_t group, size_t e) {
    (void)e;
    return group % 2 ? 14 : 2;
}

static double pt188372(size_t group, size_t e) {
    (void)group, (void)e;
    return 1e6;
}

static double pt162489(size_t group, size_t e) {
    (void)group;
    return e % 2 ? -1e30 : 1e30;
}

static double onnx8439(size_t group, size_t e) {
    return group % 2 && e % 2 ? -256 : 256;
}

static double zero(size_t group, size_t e) {
    (void)group, (void)e;
    return 0;
}

static double outlier_first(size_t group, size_t e) {
    return e == 0 ? 3000 : z(group, e);
}

static double zero_first(size_t group, size_t e) {
    return e == 0 ? 0 : 1e4 + z(group, e);
}

static double head(size_t group, size_t e) {
    return z(group, e) + (e < 16 ? 1e6 : 0);
}

static double turns(size_t group, size_t e) {
    return z(group, e) + (e % 2 ? -1e6 : 1e6);
}

#define ROWS "{layernorm,rmsnorm,qwen2_rmsnorm}/forward/"

static const exhibit exhibits[] = {
    {"pt51102",
     "pytorch/pytorch#51102",
     "5 rows of 4: N(0, 1) + 2000",
     "a row's variance came out as 30822 instead of 1",
     {ROWS "f32/5x4/*/no-affine", "batchnorm/forward/f32/4x5/*/no-affine"},
     pt51102},
    {"pt40302",
     "pytorch/pytorch#40302",
     "0.01 * N(0, 1) + 100, 32768 values per row",
     "every variance was computed as 0",
     {ROWS "f32/2x32768/*/no-affine", "batchnorm/forward/f32/32768x2/*/no-affine"},
     pt40302},
    {"ort28463",
     "microsoft/onnxruntime#28463",
     "80000, 80001, 80002, 80003",
     "NaN",
     {ROWS "f32/1x4/*/no-affine", "batchnorm/forward/f32/4x1/*/no-affine"},
     ort28463},
    {"ort21935",
     "microsoft/onnxruntime#21935",
     "256 values, all 1234",
     "NaN instead of 0",
     {ROWS "f32/1x256/*/no-affine", "batchnorm/forward/f32/256x1/*/no-affine"},
     ort21935},
    {"ort31973",
     "microsoft/onnxruntime#31973",
     "1e5 + 1e-2 * N(0, 1); near 1e5, floats are 1/128 apart",
     "Welford's variance had a relative error of 0.94",
     {ROWS "f32/4x256/*/no-affine", "batchnorm/forward/f32/256x4/*/no-affine"},
     ort31973},
    {"mlx2238",
     "ml-explore/mlx#2238",
     "the 16 values of the report, near 1449.5, sigma 0.46",
     "NaN on the GPU only",
     {ROWS "f32/1x16/*/no-affine", "batchnorm/forward/f32/16x1/*/no-affine"},
     mlx2238},
    {"burn5607",
     "tracel-ai/burn#5607",
     "mean + i * 1e-3, i < 16, mean 100, 1000 and 10000",
     "-2.37 instead of -1.34",
     {ROWS "f32/3x16/*/no-affine", "batchnorm/forward/f32/16x3/*/no-affine"},
     burn5607},
    {"pt108072",
     "pytorch/pytorch#108072",
     "2, 2 and 14, 14",
     "1e-4 instead of 0: y was x * rstd - mean * rstd",
     {ROWS "f32/4x2/*/no-affine/eps=1e-6", "batchnorm/forward/f32/2x4/*/no-affine/eps=1e-6"},
     pt108072},
    {"pt188372",
     "pytorch/pytorch#188372",
     "rows of one value, 1e6",
     "dgamma was not 0, although y does not depend on gamma; in bf16 y was not beta",
     {"layernorm/{forward,backward}/{f32,bf16}/1x1/*"},
     pt188372},
    {"pt162489",
     "pytorch/pytorch#162489",
     "1e30 and -1e30 in turn",
     "zeros on the CPU, NaN on the GPU: the squares overflow",
     {ROWS "f32/4x8/*/no-affine", "batchnorm/forward/f32/8x4/*/no-affine"},
     pt162489},
    {"onnx8439",
     "onnx/onnx#8439",
     "256, 256 and 256, -256 in f16",
     "0, 0 instead of 1, 1: the squares overflow f16",
     {"{rmsnorm,qwen2_rmsnorm}/forward/f16/2x2/*/no-affine/eps=0",
      "{layernorm,batchnorm}/forward/f16/2x2/*/no-affine"},
     onnx8439},
    {"pt41527",
     "pytorch/pytorch#41527",
     "10 zeros in f16, eps 1e-12",
     "NaN instead of 0: eps underflows in f16",
     {ROWS "f16/1x10/*/no-affine/eps=1e-12", "batchnorm/forward/f16/10x1/*/no-affine/eps=1e-12"},
     zero},
    {"dnnl-rms-dx",
     NULL,
     "x is N(0, 1), dy has the mean 0.5",
     "oneDNN 3.14 subtracts mean(g), as LayerNorm does; so does its own reference",
     {"{rmsnorm,qwen2_rmsnorm}/backward/{f32,bf16}/8x64/*"},
     z},
    {"tt53204",
     "tenstorrent/tt-metal#53204",
     "x is N(0, 1), dy has the mean 0.5",
     "dx subtracted mean(g) twice, and a tolerance of 0.5 let it pass",
     {"{layernorm,batchnorm}/backward/{f32,bf16}/8x64/*"},
     z},
    {"outlier-first",
     NULL,
     "3000, then N(0, 1)",
     "nothing yet: it is meant for kernels that shift x by its first value",
     {ROWS "f32/4x1024/*/no-affine", "batchnorm/forward/f32/1024x4/*/no-affine"},
     outlier_first},
    {"zero-first",
     NULL,
     "0, then N(0, 1) + 10000",
     "nothing yet: it is meant for kernels that shift x by its first value",
     {ROWS "f32/4x1024/*/no-affine", "batchnorm/forward/f32/1024x4/*/no-affine"},
     zero_first},
    {"long-head",
     NULL,
     "16 values near 1e6, then N(0, 1), 16384 values per row",
     "our own vector kernels: y was off by 60 units before they summed in blocks",
     {ROWS "f32/2x16384/*/no-affine", "batchnorm/forward/f32/16384x2/*/no-affine"},
     head},
    {"long-turns",
     NULL,
     "1e6 and -1e6 in turn, plus N(0, 1), 16384 values per row",
     "our own vector kernels: y was off by 19 units before they summed in blocks",
     {ROWS "f32/2x16384/*/no-affine", "batchnorm/forward/f32/16384x2/*/no-affine"},
     turns},
    {"control",
     NULL,
     "N(0, 1)",
     "nothing: all faulty kernels above had passed tests on such data",
     {ROWS "f32/4x1024/*/no-affine", "batchnorm/forward/f32/1024x4/*/no-affine"},
     z},
};

size_t museum_count(void) {
    return sizeof exhibits / sizeof *exhibits;
}

const exhibit *museum_at(size_t i) {
    return i < museum_count() ? &exhibits[i] : NULL;
}

const exhibit *museum_find(const char *data) {
    for (size_t i = 0; strncmp(data, "museum:", 7) == 0 && i < museum_count(); i++)
        if (strcmp(data + 7, exhibits[i].name) == 0) return &exhibits[i];
    return NULL;
}

const char *museum_names(void) {
    static char names[400];
    size_t length = 0;
    for (size_t i = 0; i < museum_count() && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   exhibits[i].name);
    return names;
}

bool museum_spelling(const exhibit *e, size_t i, char *out, size_t size) {
    const char *text = i < EXHIBIT_CASES ? e->cases[i] : NULL,
               *star = text ? strchr(text, '*') : NULL;
    if (!star) return false;
    snprintf(out, size, "%.*smuseum:%s%s", (int)(star - text), text, e->name, star + 1);
    return true;
}
