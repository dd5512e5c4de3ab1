#!/usr/bin/env bash
# Tests `normlab run` as a user sees it: answers worked by hand, implementations against the reference, and bad input,
# which must give exit code 2 and a message and change no file. Usage: tests/commands/run.sh path/to/normlab.
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"

npy() { python3 -BS "$root/tests/commands/run_npy.py" "$@" 2>&1; }

# runs NAME ARGUMENTS...: expects exit code 0, nothing on stdout and something on stderr. Removes the usual outputs of
# an earlier run first.
runs() {
    rm -f y.npy m.npy rstd.npy sum.npy rm.npy rv.npy
    exits "$1" 0 run "${@:2}"
    quiet
    holds "  and something on stderr" test -s stderr
}

gives() { check "$1" "$(npy expect "${@:2}")"; }

# Names and checksums of all files except stdout and stderr.
state() { find . -type f ! -name stdout ! -name stderr -exec cksum {} + | sort; }

# refuses NAME SAYS ARGUMENTS...: expects exit code 2, SAYS on stderr, nothing on stdout, no file changed.
refuses() {
    local before
    before=$(state)
    exits "$1 is refused" 2 run "${@:3}"
    says "$2"
    quiet
    holds "  and no file is changed" test "$(state)" = "$before"
}

# Worked by hand. The row [1, 2] has mean 1.5 and variance 0.25: y = -+0.5 / sqrt(0.25 + 1e-5).
npy write rows.npy '<f4' '(2, 2)' 1 2 3 4
runs "layernorm of two rows" layernorm --x rows.npy --out y.npy --mean-out m.npy --rstd-out rstd.npy
gives "  y" y.npy '<f4' '(2, 2)' 1e-6 -0.99998 0.99998 -0.99998 0.99998
gives "  mean" m.npy '<f4' '(2,)' 0 1.5 3.5
gives "  rstd" rstd.npy '<f4' '(2,)' 1e-5 1.99996 1.99996
# mean(x^2) = 2, so y = x / sqrt(2.00001) * w.
npy write x3.npy '<f4' '(1, 3)' 1 -1 2
npy write w3.npy '<f4' '(3,)' 2 0.5 1
runs "rmsnorm of [1, -1, 2]" rmsnorm --x x3.npy --gamma w3.npy --eps 1e-5 --out y.npy
gives "  y" y.npy '<f4' '(1, 3)' 5e-4 1.414 -0.354 1.414
runs "its gain as 1 + w" qwen2_rmsnorm --x x3.npy --gamma w3.npy --out y.npy
gives "  y" y.npy '<f4' '(1, 3)' 5e-4 2.121 -1.061 2.828
mv y.npy first.npy
for alias in gemma qwen3next; do
    runs "$alias is qwen2_rmsnorm" $alias --x x3.npy --gamma w3.npy --out y.npy
    check "  y" "$(npy close first.npy y.npy 0)"
done
# silu(1) = 0.731059 and silu(0) = 0. y = xhat * w * silu(gate). With the gate first, x * silu(gate) is normalized:
# [0.731, 0, 0] * sqrt(3) / 0.731.
npy write z3.npy '<f4' '(1, 3)' 1 0 0
runs "gated_rmsnorm" gated_rmsnorm --x x3.npy --gate z3.npy --gamma w3.npy --out y.npy
gives "  y" y.npy '<f4' '(1, 3)' 5e-4 1.0339 0 0
for layer in gate_first_rmsnorm mamba2; do
    runs "$layer" $layer --x x3.npy --gate z3.npy --gamma w3.npy --out y.npy
    gives "  y" y.npy '<f4' '(1, 3)' 5e-4 3.4641 0 0
done
refuses "  without its gate" "--gate FILE.npy is missing: mamba2 needs it" mamba2 --x x3.npy --out y.npy
refuses "rmsnorm with a gate" "--gate has no meaning for rmsnorm" rmsnorm --x x3.npy --gate z3.npy --out y.npy
npy write zero.npy '<f4' '(3,)' 0
runs "rmsnorm of zeros, a single row" rmsnorm --x zero.npy --gamma w3.npy --out y.npy
gives "  y" y.npy '<f4' '(3,)' 0 0 0 0
runs "its statistics are a scalar" rmsnorm --x zero.npy --out y.npy --rstd-out rstd.npy
gives "  rstd" rstd.npy '<f4' '()' 0.01 316.228
# Channel 0 holds 1, 2, 5, 6: mean 3.5, biased variance 4.25, unbiased 17/3.
npy write image.npy '<f4' '(2, 2, 2)' 1 2 3 4 5 6 7 8
npy write mean2.npy '<f4' '(2,)' 0 10
npy write var2.npy '<f8' '(2,)' 1 2
for impl in batchnorm/two_pass reference; do
    runs "batchnorm by $impl" batchnorm --x image.npy --impl $impl --out y.npy --momentum 0.5 \
        --running-mean mean2.npy --running-var var2.npy --running-mean-out rm.npy \
        --running-var-out rv.npy --mean-out m.npy --rstd-out rstd.npy
    gives "  y" y.npy '<f4' '(2, 2, 2)' 1e-4 \
        -1.2127 -0.7276 -1.2127 -0.7276 0.7276 1.2127 0.7276 1.2127
    gives "  mean" m.npy '<f4' '(2,)' 0 3.5 5.5
    gives "  rstd" rstd.npy '<f4' '(2,)' 1e-5 0.485071 0.485071
    gives "  running mean" rm.npy '<f4' '(2,)' 1e-6 1.75 7.75
    gives "  running variance" rv.npy '<f4' '(2,)' 1e-5 3.333333 3.833333
    runs "batchnorm inference by $impl" batchnorm --inference --x image.npy --eps 0 --out y.npy \
        --running-mean mean2.npy --running-var var2.npy \
        --impl "$([ $impl = reference ] && echo reference || echo best)"
    gives "  y" y.npy '<f4' '(2, 2, 2)' 1e-5 1 2 -4.949747 -4.242641 5 6 -2.121320 -1.414214
done
npy write negative.npy '<f4' '(2,)' 1 -2
runs "a negative variance" batchnorm --inference --x image.npy --out y.npy --running-mean mean2.npy \
    --running-var negative.npy
says 'negative.npy: number 1 is -2'

# Compares implementations with the reference, for every layer, type and option that changes the formula.
npy write x.npy '<f4' '(3, 2, 5)' 0.5 -1.25 3 2.75 -0.125 7 -4.5
npy write h.npy '<f2' '(3, 2, 5)' 0.5 -1.25 3 2.75 -0.125 7 -4.5
npy write half.npy '<f2' '(4, 5)' 0.5 -1.25 3 2.75 -0.125 7 -4.5
npy write r.npy '<f4' '(3, 2, 5)' 1 0.1 -2
npy write rh.npy '<f2' '(3, 2, 5)' 1 0.1 -2
npy write g.npy '<f4' '(5,)' 1.5 -0.5 0.1 2 1
npy write b.npy '<f2' '(5,)' 0.25 -1 3 0 0.5
npy layernorm normal.npy 20 100
runs "the reference" layernorm --x normal.npy --impl reference --eps 0x1p-10 --out y.npy
check "  is rounded once" "$(npy close exact-normal.npy y.npy 0)"
runs "layernorm/naive" layernorm --x normal.npy --impl layernorm/naive --eps 0x1p-10 --out y.npy
check "  is not" "$(npy differ exact-normal.npy y.npy)"
both() { # both NAME TOLERANCE IMPL ARGUMENTS...
    runs "$1" "${@:4}" --impl "$3" --out y.npy
    mv y.npy first.npy
    runs "  by the reference" "${@:4}" --impl reference --out y.npy
    check "  agree" "$(npy close first.npy y.npy "$2")"
}
both "layernorm" 4e-6 layernorm/two_pass layernorm --x x.npy --gamma g.npy --beta b.npy --eps 0.5
both "layernorm, f16" 4e-3 layernorm/two_pass layernorm --x h.npy --gamma g.npy --beta b.npy
both "layernorm + residual" 4e-6 layernorm/naive@c layernorm --x x.npy --residual r.npy
both "rmsnorm" 4e-6 rmsnorm/naive rmsnorm --x x.npy --gamma g.npy
both "rmsnorm, f16, before weight" 2e-3 rmsnorm/naive rmsnorm --x h.npy --gamma g.npy \
    --residual rh.npy --casting before-weight
both "qwen2_rmsnorm" 4e-6 best qwen2_rmsnorm --x x.npy --gamma=g.npy --threads 2
for layer in gated_rmsnorm gate_first_rmsnorm; do
    both "$layer" 4e-6 best $layer --x x.npy --gate r.npy --gamma g.npy
    both "  backward" 4e-6 best $layer --x x.npy --gate r.npy --gamma g.npy --dy r.npy --dgate-out dgate.npy
done
both "batchnorm" 4e-6 best batchnorm --x x.npy --gamma var2.npy --beta mean2.npy
both "batchnorm, f16, of rows" 4e-3 batchnorm/naive \
    batchnorm --x half.npy --gamma g.npy --beta b.npy
for impl in best reference; do
    runs "residual-out by $impl" rmsnorm --x h.npy --residual rh.npy --out y.npy --impl $impl \
        --residual-out sum.npy
    mv sum.npy sum-$impl.npy
    runs "  casting last" rmsnorm --x h.npy --gamma g.npy --casting last --out y.npy --impl $impl
    mv y.npy last.npy
    runs "  casting before-weight" rmsnorm --x h.npy --gamma g.npy --out y.npy --impl $impl \
        --casting before-weight
    check "  they differ" "$(npy differ last.npy y.npy)"
done
check "residual-out agrees" "$(npy close sum-best.npy sum-reference.npy 0)"
npy write d.npy '<f8' '(3, 2, 5)' 0.5 -1.25 3 2.75 -0.125 7 -4.5
runs "float64 is computed as float32" layernorm --x d.npy --out y.npy
check "  and says so" "$(grep -q 'd.npy is float64: computed as float32' stderr || shows cat stderr)"
mv y.npy first.npy
runs "  float32 itself" layernorm --x x.npy --out y.npy
check "  agree" "$(npy close first.npy y.npy 0)"
said='layernorm forward f32 (3, 2, 5) with [a-z]*/[a-z_]*@[a-z0-9]*: wrote y.npy'
check "one line says what was done" "$(grep -qx "$said" stderr || shows cat stderr)"
# Backward, worked by hand. Rows of two with eps 0 have xhat = -+1 and dx = 0; dgamma and dbeta are sums.
npy write dy.npy '<f4' '(2, 2)' 1 3 5 11
npy write dpast.npy '<f4' '(2, 2)' 7
npy write g2.npy '<f4' '(2,)' 2 1
for impl in best reference; do
    runs "layernorm backward by $impl" layernorm --x rows.npy --dy dy.npy --eps 0 --out y.npy \
        --gamma g2.npy --dresidual dpast.npy --dgamma-out m.npy --dbeta-out rstd.npy --impl $impl
    gives "  dx" y.npy '<f4' '(2, 2)' 2e-6 7 7 7 7
    gives "  dgamma" m.npy '<f4' '(2,)' 1e-5 -6 14
    gives "  dbeta" rstd.npy '<f4' '(2,)' 1e-5 6 14
done
runs "batchnorm backward" batchnorm --x image.npy --dy image.npy --out y.npy
mv y.npy ours.npy
runs "  by the reference" batchnorm --x image.npy --dy image.npy --out y.npy --impl reference
check "  agree" "$(npy close ours.npy y.npy 1e-5)"

# Normalizes several axes at once: the row of four is 1, 2, 3, 4, with mean 2.5 and variance 1.25.
npy write both.npy '<f4' '(1, 2, 2)' 1 2 3 4
npy write g22.npy '<f4' '(2, 2)' 1 1 1 2
for axes in 1,2 -1,-2; do
    runs "layernorm --axes $axes" layernorm --x both.npy --axes $axes --gamma g22.npy --eps 0 \
        --out y.npy --mean-out m.npy
    gives "  y" y.npy '<f4' '(1, 2, 2)' 1e-6 -1.341641 -0.4472136 0.4472136 2.683282
    gives "  mean" m.npy '<f4' '(1,)' 0 2.5
done
runs "batchnorm --axes 0,1: channels last" batchnorm --x image.npy --axes 0,1 --eps 0 --out y.npy \
    --mean-out m.npy
gives "  mean" m.npy '<f4' '(2,)' 0 4 5
runs "batchnorm --axes 1,2: channels first" batchnorm --x image.npy --axes 1,2 --out y.npy \
    --mean-out m.npy
gives "  mean" m.npy '<f4' '(2,)' 0 2.5 6.5

# Tests bfloat16 files that ml_dtypes saved.
npy write brain.npy '<V2' '(2, 2)' 1 2 3 4
npy write brain-b.npy '<V2' '(2,)' 0.5 0.5
runs "bfloat16" layernorm --x brain.npy --beta brain-b.npy --eps 0 --out y.npy
gives "  y" y.npy '<V2' '(2, 2)' 0 -0.5 1.5 -0.5 1.5
check "  is said" "$(grep -q '^layernorm forward bf16' stderr || shows cat stderr)"

npy write none.npy '<f4' '(0, 5)' 0
runs "no rows" layernorm --x none.npy --out y.npy
gives "  y" y.npy '<f4' '(0, 5)' 0
runs "no rows, by the reference" \
    layernorm --x none.npy --out y.npy --impl reference --mean-out m.npy
for impl in best reference; do
    runs "no gradients, by $impl" layernorm --x none.npy --dy none.npy --out y.npy --impl $impl \
        --dgamma-out m.npy
    gives "  the sum of nothing" m.npy '<f4' '(5,)' 0 0 0 0 0 0
done
npy write nobody.npy '<f4' '(0, 2, 3)' 0
for impl in best reference; do
    runs "no images, by $impl" batchnorm --x nobody.npy --out y.npy --mean-out m.npy --impl $impl \
        --running-mean mean2.npy --running-var var2.npy --running-mean-out rm.npy \
        --running-var-out rv.npy
    gives "  the mean of nothing" m.npy '<f4' '(2,)' 0 nan nan
    gives "  the running mean has not moved" rm.npy '<f4' '(2,)' 0 0 10
done
cp x.npy inplace.npy
refuses "an output that would replace the input" "inplace.npy is an input" layernorm --x inplace.npy --out inplace.npy
check "  the input is there" "$(cmp x.npy inplace.npy)"
exits "--help" 0 run --help
prints --running-mean-out

# Bad input. y.npy exists and must not change; new.npy must not appear.
cp first.npy y.npy
npy write scalar.npy '<f4' '()' 1
npy write flat.npy '<f4' '(5,)' 1 2 3
npy write one.npy '<f4' '(1, 3)' 1 2 3
npy write big.npy '<f8' '(3, 5)' 1 1e300
npy write wide.npy '<f4' '(1, 5)' 1
npy write empty.npy '<f4' '(4, 0)' 0
head -c 140 x.npy > short.npy
mkdir folder
mkfifo pipe
refuses "no arguments" "which layer?"
refuses "an unknown layer" "groupnorm is no layer" groupnorm --x x.npy --out new.npy
refuses "two layers" "rmsnorm: the layer is layernorm already" \
    layernorm rmsnorm --x x.npy --out new.npy
refuses "no --x" "--x FILE.npy is missing" layernorm --out new.npy
refuses "no --out" "--out FILE.npy is missing" layernorm --x x.npy
refuses "an unknown option" "--gama" layernorm --x x.npy --gama g.npy --out new.npy
refuses "a short option" "-x is no option: options begin with --" layernorm -x x.npy --out new.npy
refuses "an abbreviation" "--mean is no option: write --mean-out" \
    layernorm --x x.npy --mean y.npy --out new.npy
refuses "an option without a value" "--out needs a value" layernorm --x x.npy --out
refuses "an empty value" "--gamma is empty" layernorm --x x.npy --gamma= --out new.npy
refuses "an option twice" "--x is given twice" layernorm --x x.npy --x x.npy --out new.npy
refuses "--out -" "standard output is not supported" layernorm --x x.npy --out -
refuses "one file for two outputs" "name the same file" \
    layernorm --x x.npy --out y.npy --mean-out y.npy
refuses "an output over an input" "--mean-out x.npy is an input" layernorm --x x.npy --out new.npy --mean-out x.npy
refuses "one file for two outputs, in two spellings" "name the same file" \
    layernorm --x x.npy --out new.npy --mean-out "$PWD/./new.npy"
for bad in abc 1e-5x '' -1 nan inf 1e-60 1e60; do
    refuses "--eps '$bad'" "--eps" layernorm --x x.npy --eps "$bad" --out new.npy
done
for bad in 0 -1 1.5 two 99999; do
    refuses "--threads $bad" "--threads '$bad'" layernorm --x x.npy --threads "$bad" --out new.npy
done
refuses "--sum first" "--sum first" layernorm --x x.npy --residual x.npy --sum first --out new.npy
refuses "--sum without a residual" "--sum needs --residual" layernorm --x x.npy --sum rounded --out new.npy
refuses "--casting first" "--casting first" layernorm --x x.npy --casting first --out new.npy
refuses "an unknown implementation" "see \`normlab list\`" \
    layernorm --x x.npy --impl fast --out new.npy
refuses "another layer's" "rmsnorm/naive@" rmsnorm --x x.npy --impl layernorm/two_pass --out new.npy
refuses "an unknown ISA" "layernorm/naive@z80" \
    layernorm --x x.npy --impl layernorm/naive@z80 --out new.npy
refuses "a missing file" "nowhere.npy" layernorm --x nowhere.npy --out y.npy
refuses "a missing gamma" "--gamma nowhere.npy" layernorm --x x.npy --gamma nowhere.npy --out y.npy
refuses "cut data" "short.npy should hold 120 bytes" layernorm --x short.npy --out y.npy
refuses "a scalar" "scalar.npy has shape ()" layernorm --x scalar.npy --out y.npy
refuses "rank 1 for batchnorm" "batchnorm takes (N, C)" batchnorm --x flat.npy --out y.npy
refuses "no features" "c = 0" layernorm --x empty.npy --out y.npy
refuses "gamma of another length" "w3.npy has shape (3,); x of shape (3, 2, 5) needs (5,)" \
    layernorm --x x.npy --gamma w3.npy --out y.npy
refuses "gamma of rank 2" "wide.npy has shape (1, 5)" \
    layernorm --x x.npy --gamma wide.npy --out y.npy
refuses "residual of another shape" "--residual rows.npy" \
    layernorm --x x.npy --residual rows.npy --out y.npy
refuses "residual of another type" "rh.npy is f16, and x is f32: save both as one type" \
    layernorm --x x.npy --residual rh.npy --out y.npy
refuses "a value beyond float32" "its element 1, 1e+300" layernorm --x big.npy --out y.npy
refuses "beta for rmsnorm" "--beta has no meaning for rmsnorm" \
    rmsnorm --x x.npy --beta b.npy --out y.npy
refuses "mean of rmsnorm" "--mean-out has no meaning" rmsnorm --x x.npy --mean-out m.npy --out y.npy
refuses "residual for batchnorm" "--residual has no" \
    batchnorm --x x.npy --residual r.npy --out y.npy
refuses "residual-out alone" "needs --residual" rmsnorm --x x.npy --residual-out new.npy --out y.npy
refuses "inference for layernorm" "--inference has no" layernorm --inference --x x.npy --out y.npy
refuses "inference on nothing" "needs --running-mean" \
    batchnorm --inference --x image.npy --out y.npy
refuses "half the statistics" "needs --running-var" \
    batchnorm --inference --x image.npy --out y.npy \
    --running-mean mean2.npy
refuses "statistics of inference" "batchnorm --inference" batchnorm --inference --x image.npy \
    --out y.npy --running-mean mean2.npy --running-var var2.npy --mean-out new.npy
refuses "statistics that go nowhere" "or, to normalize by them, --inference" batchnorm --x image.npy --out y.npy \
    --running-mean mean2.npy --running-var var2.npy
refuses "momentum of nothing" "--momentum needs" batchnorm --x image.npy --momentum 0.5 --out y.npy
refuses "momentum 2" "--momentum '2'" batchnorm --x image.npy --momentum 2 --out y.npy \
    --running-mean mean2.npy --running-var var2.npy --running-mean-out rm.npy \
    --running-var-out rv.npy
for impl in best reference; do
    refuses "one value a channel, $impl" "more than one value" \
        batchnorm --x one.npy --impl $impl --out y.npy
done
refuses "dy of another type" "--dy rh.npy is f16, and x is f32" \
    layernorm --x x.npy --dy rh.npy --out y.npy
refuses "dy of another shape" "--dy rows.npy has shape (2, 2); x has (3, 2, 5)" \
    layernorm --x x.npy --dy rows.npy --out y.npy
refuses "dgamma of forward" "--dgamma-out has no meaning for layernorm" \
    layernorm --x x.npy --out y.npy --dgamma-out new.npy
refuses "dbeta of rmsnorm" "--dbeta-out has no meaning for rmsnorm backward" \
    rmsnorm --x x.npy --dy r.npy --out y.npy --dbeta-out new.npy
refuses "a residual in backward" "--residual has no meaning for rmsnorm backward" \
    rmsnorm --x x.npy --dy r.npy --residual r.npy --out y.npy
refuses "statistics in backward" "--mean-out has no" \
    layernorm --x x.npy --dy r.npy --out y.npy --mean-out new.npy
for axes in 0 1 0,2; do
    refuses "layernorm --axes $axes" "save x with these last, numpy.moveaxis" \
        layernorm --x x.npy --axes $axes --out y.npy
done
refuses "gamma of the last axis only" "needs (2, 5)" \
    layernorm --x x.npy --axes 1,2 --gamma g.npy --out y.npy
refuses "batchnorm over one axis" "batchnorm needs all axes except" batchnorm --x x.npy --axes 0 --out y.npy
refuses "an axis twice" "names an axis twice" layernorm --x x.npy --axes 2,-1 --out y.npy
refuses "an axis that is not there" "has no axis 3" layernorm --x x.npy --axes 3 --out y.npy
refuses "axes of no numbers" "--axes '1,' should be" layernorm --x x.npy --axes 1, --out y.npy
refuses "a missing folder" "nowhere/y.npy" layernorm --x x.npy --out nowhere/y.npy
refuses "one output of two" "nowhere/m.npy" layernorm --x x.npy --out y.npy --mean-out nowhere/m.npy
refuses "the other of two" "nowhere/y.npy" \
    layernorm --x x.npy --out nowhere/y.npy --mean-out new.npy
refuses "a folder as output" "folder exists and is not" layernorm --x x.npy --out folder
refuses "a pipe as output" "pipe exists and is not" layernorm --x x.npy --out pipe
check "  and leaves it a pipe" "$([ -p pipe ] || echo no)"

# A limit on file size simulates a full disk: writing fails, and the old file stays.
npy write large.npy '<f4' '(64, 1024)' 1 2 3
limited() { (trap '' XFSZ; ulimit -f 4; exec "$normlab" "$@"); }
before=$(state)
ran "refuses to fill the disk" 2 limited run layernorm --x large.npy --out y.npy
says "y.npy: cannot write it"
check "  and leaves the files alone" "$([ "$(state)" = "$before" ] || echo "files changed")"

summary
