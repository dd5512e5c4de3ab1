"""RMSNorm forward for --load, in Python: Numba compiles the kernel, and a few lines of C put it into a table.

     python3 examples/rmsnorm.py -o rmsnorm.so

Needs numba, which brings llvmlite, and a C compiler. SPDX-License-Identifier: MIT
"""

import argparse
import math
import os
import pathlib
import subprocess
import tempfile

import llvmlite.binding as llvm
import numba
from numba import float32, types

FLOATS = types.CPointer(float32)


# Numba's pointers cannot be None: the has_... arguments tell which pointers are given.
@numba.cfunc(
    types.void(
        types.uintp, types.uintp, float32, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS,
        types.bool_, types.bool_, types.bool_, types.bool_,
    ),
    error_model="numpy",
)
def rmsnorm(
    n, c, eps, x, residual, gamma, y, residual_out, rstd,
    has_residual, has_gamma, has_residual_out, has_rstd,
):
    for r in range(n):
        squares = float32(0)
        for i in range(r * c, (r + 1) * c):
            v = x[i] + residual[i] if has_residual else x[i]
            squares += v * v
        s = float32(1) / math.sqrt(squares / float32(c) + eps)

        for j in range(c):  # y may alias x, and residual_out residual
            i = r * c + j
            v = x[i] + residual[i] if has_residual else x[i]
            if has_residual_out:
                residual_out[i] = v
            y[i] = v * s * gamma[j] if has_gamma else v * s
        if has_rstd:
            rstd[r] = s


TABLE = """
#include "normlab_kernel.h"

void rmsnorm(size_t n, size_t c, float eps, const float *x, const float *residual, const float *gamma,
             float *y, float *residual_out, float *rstd, bool, bool, bool, bool);

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    rmsnorm(p->n, p->c, p->eps, a->x, a->residual, a->gamma, a->y, a->residual_out, a->rstd,
            a->residual, a->gamma, a->residual_out, a->rstd);
}

static const nl_impl impl = {.name = "numba/rmsnorm", .isa = "c", .about = "the formula in Python, compiled by Numba",
                             .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD), .dtypes = NL_BIT(NL_F32),
                             .method = NL_TWO_PASS, .lanes = 1, .forward = forward};

int normlab_kernel_abi(void) {
    return NL_KERNEL_ABI;
}

const nl_impl *normlab_kernel(size_t i) {
    return i == 0 ? &impl : NULL;
}
"""


def object_code(function):
    """The function as an object file for any processor of this family, under its Python name."""
    module = llvm.parse_assembly(function.inspect_llvm().replace(function.native_name, function.__name__))
    target = llvm.Target.from_triple(module.triple)
    return target.create_target_machine(reloc="pic", codemodel="default").emit_object(module)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("-o", dest="library", required=True, help="the shared library to write")
library = parser.parse_args().library
include = pathlib.Path(__file__).resolve().parent.parent / "include"
with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder)
    (made / "table.c").write_text(TABLE)
    (made / "rmsnorm.o").write_bytes(object_code(rmsnorm))
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", f"-I{include}", made / "table.c", made / "rmsnorm.o", "-o", library],
        check=True,
    )
