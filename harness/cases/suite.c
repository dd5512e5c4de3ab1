/* SPDX-License-Identifier: MIT */
#include "cases/suite.h"

static const char *const suite[] = {
    "{layernorm,rmsnorm,qwen2_rmsnorm}/{forward,backward}/{f32,f16,bf16}/{0,1,3}x{1..67}/normal",
    "batchnorm/{forward,backward,inference}/{f32,f16,bf16}/{0,3}x{1..67+6}x{1,2,49}/normal",
    "batchnorm/inference/f32/1x5/normal",
    "{layernorm,rmsnorm,qwen2_rmsnorm}/forward/{f32,f16,bf16}/9x{7,64,1000}/"
    "{uniform,offset:16,constant,outliers,exact,zeros,nan,inf}"
    "{,/residual,/residual/in-place,/in-place,/no-affine,/cast-before-weight}",
    "{layernorm,rmsnorm,qwen2_rmsnorm}/backward/{f32,f16,bf16}/9x{7,64,1000}/{uniform,offset:16,"
    "constant,outliers,zeros}{,/residual,/residual/in-place,/in-place,/no-affine}",
    "batchnorm/{forward,inference}/{f32,f16,bf16}/{9x7,50x64,8x5x49}/"
    "{uniform,offset:16,constant,outliers,exact,zeros,nan,inf}"
    "{,/in-place,/no-affine,/momentum=0.99,/biased-running-var}",
    "batchnorm/backward/{f32,f16,bf16}/{9x7,50x64,8x5x49}/"
    "{uniform,offset:16,constant,outliers,zeros}{,/in-place,/no-affine}",
    "{layernorm,rmsnorm,batchnorm}/forward/f32/33x40/offset:{1..1048576*16}/eps=1e-12",
    "{layernorm,rmsnorm,qwen2_rmsnorm,batchnorm}/forward/f32/33x40/{huge,tiny}",
    "{layernorm,rmsnorm}/forward/{f32,f16,bf16}/2x{65536,65537}/normal",
};

bool suite_cases(case_list *list, char *error, size_t error_size) {
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++)
        if (!cases_add(list, suite[i], error, error_size)) return false;
    return cases_add_museum(list, error, error_size);
}
