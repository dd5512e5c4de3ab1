#!/usr/bin/env bash
# Tests `--load`: kernels of a shared library in every command that has the option, and libraries that are refused.
# Usage: tests/workbench/load.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
cc=${CC:-cc}
type "${cc%% *}" > /dev/null || { echo "skip  there is no $cc"; exit 77; }
case=rmsnorm/forward/f32/3x7/normal
unset NL_ISA

# library NAME OPTIONS...: compiles stdin, after the headers, into NAME.so
library() {
    { echo '#include "normlab_kernel.h"'; cat; } > "$1.c"
    $cc -O1 -shared -fPIC -I"$root/include" -I"$root/core" "${@:2}" "$1.c" -o "$1.so" || exit 1
}
refuses() { # refuses FILE WORDS: `check --load FILE` fails with WORDS
    exits "$1 is refused" 2 check --load "$1" $case
    says "--load $1: "
    says "$2"
    quiet
}

# A compiled library depends on the structures and enumerations of the headers. Comments do not count.
declared=$(cat "$root/include/normlab.h" "$root/core/layer.h" | tr '\n' ' ' | sed -E 's,/\*([^*]|\*+[^*/])*\*+/,,g' |
    grep -oE '(typedef )?(struct|enum) [^;{]*\{[^}]*\}[^;]*;' | tr -d ' \n' | cksum)
check "the structures are those of NL_KERNEL_ABI 4" "$([ "$declared" = "1919599062 3649" ] ||
    echo "if layout or meaning changed, raise NL_KERNEL_ABI. Then write their new sum here: $declared")"

for rung in rmsnorm/naive layernorm/backward; do
    $cc -O2 -shared -fPIC "-DNL_NAME=\"mine/${rung#*/}\"" -I"$root/include" -I"$root/core" "$root/$rung.c" \
        -o "${rung#*/}.so" || exit 1
done
reports "check with a library" 0 "1 case: 1 ok" check --load naive.so --impl mine/naive $case
answers "  selected by default" 0 ",mine/naive,c,1," check --load ./naive.so $case
exits "check with two" 0 check --load naive.so --load backward.so --impl 'mine/*' $case \
    layernorm/backward/bf16/3x7/normal
says "2 cases: 2 ok"
$cc -O2 -shared -fPIC '-DNL_NAME="mine/a_name_that_is_longer_than_a_column"' -I"$root/include" -I"$root/core" \
    "$root/rmsnorm/naive.c" -o long.so || exit 1
exits "a long name" 0 check --load long.so --impl mine/* $case $case/in-place
check "  breaks no column" "$(grep -E '^ {37} c ' stderr > /dev/null || shows tail -4 stderr)"
answers "list" 0 "mine/naive: the formula" list --load naive.so
answers "bench" 0 ",mine/naive,c,1," bench --load naive.so --impl 'rmsnorm/naive,mine/naive' --quick --seconds 0.005 $case
{ sed 's/1 \/ sqrtf/2 \/ sqrtf/' "$root/rmsnorm/naive.c"; printf '#include <unistd.h>\nstatic __attribute__((destructor)) void end(void) { _exit(0); }\n'; } >ends.c
$cc -O2 -shared -fPIC '-DNL_NAME="mine/ends"' -I"$root/include" -I"$root/core" ends.c -o ends.so || exit 1
exits "a wrong kernel whose destructor ends the program with 0" 1 check --load ends.so --impl mine/ends $case
exits "bench in fresh processes" 0 bench --load naive.so --impl 'rmsnorm/naive,mine/naive' --seconds 0.005 \
    --passes 2 $case
prints ",mine/naive,c,1,"
cp "$root/rmsnorm/naive.c" old.c && cp "$root/rmsnorm/one_pass.c" new.c
exits "bench with source files, in fresh processes" 0 bench --load old.c --load ./new.c --impl 'try/*' \
    --baseline try/old --quick --seconds 0.005 --passes 2 $case
prints ",try/old,c,1,"
prints ",try/new,c,1,"
sed 's|nl_put_y(row, i, |&2 * |' old.c > twice.c
reports "a wrong source file" 1 "repeat: normlab try 'twice.c'" check --load twice.c --impl try/twice $case
exits "bench with a wrong source file" 1 bench --load twice.c --impl try/twice --quick --seconds 0.005 --passes 1 $case
check "  says so once, not in each process" "$([ "$(grep -c '^FAIL try/twice' stderr)" = 1 ] || shows cat stderr)"
prints ",try/twice,c,1,fail,1,,,,,,,,,"
cp old.c changes.c
passes() { # EXIT: measures a pass into the folder "pool", and checks the exit code
    exits "a pass of a source file" "$1" bench --load changes.c --impl try/changes --quick --seconds 0.005 --passes 1 --out pool $case
}
passes 0
passes 0
cp new.c changes.c
passes 2
says "in the passes of pool, loaded is '"
cp old.c changes.c
passes 0
says "3 passes in pool"
# One process of the last pass failed: the row has no times.
process=$(ls pool/*/bench-3.csv | tail -1)
awk -F, -v OFS=, 'NR > 1 { $13 = "fail"; $16 = $17 = $18 = $19 = "" } 1' "$process" >failed && mv failed "$process"
sed -i /^crc/d "${process%.csv}.machine.txt"
passes 1
check "  it has no time" "$(grep -qE '^  try/changes +c +4 fail$' stdout || shows cat stdout)"
if type valgrind > /dev/null && ! "$normlab" --version | grep -q fsanitize; then
    exits "count with a source file" 0 count --load old.c --impl try/old $case
    prints "try/old "
fi
mkdir -p other
mkfifo pipe.c
reports "a pipe" 2 "pipe.c: it is not a file" list --load pipe.c
reports "a folder" 2 "other: it is not a file" list --load other
printf '#!/bin/sh\necho begun > %q\nsleep 1\nexec cc "$@"\n' "$PWD/begun" > slow && chmod +x slow && mkdir -p temporary
CC=$PWD/slow TMPDIR=$PWD/temporary interrupts "Ctrl-C while a file is compiled" begun list --load old.c
says "old.c: interrupted"
check "  leaves no folder" "$(ls temporary)"
echo "int" > torn.c
reports "one that does not compile" 2 "--load torn.c: does not compile" list --load torn.c
cp old.c other/
reports "a source file's name twice" 2 "try/old@c already exists, from old.c" list --load old.c --load other/old.c
exits "check --impl best" 0 check --load naive.so --impl best $case
check "  is another" "$(grep mine/naive stdout)"
printf '%b' "\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }" > x.npy
printf '%*s\n' $((80 - $(wc -c < x.npy) - 1)) '' >> x.npy
printf '\0\0\x80\x3f\0\0\0\x40' >> x.npy
reports "run" 0 "with mine/naive@c" run rmsnorm --x x.npy --load naive.so --impl mine/naive --out y.npy

library wrong <<< '
static void forward(const nl_problem *p, const nl_forward_args *a, int threads) { (void)p, (void)a, (void)threads; }
static const nl_impl k = {.name = "mine/wrong", .isa = "c", .about = "-", .ops = NL_BIT(NL_RMSNORM),
    .passes = NL_BIT(NL_FORWARD), .dtypes = 1, .lanes = 1, .forward = forward};
int normlab_kernel_abi(void) { return NL_KERNEL_ABI; }
const nl_impl *normlab_kernel(size_t i) { return i ? NULL : &k; }'
exits "a wrong kernel fails" 1 check --load wrong.so --impl mine/wrong $case
says "repeat: normlab check '$case' --impl 'mine/wrong@c' --load 'wrong.so'"
exits "  beside a right one" 1 check --load naive.so --load wrong.so --impl 'mine/*' $case
says "1 case: 1 ok, 0 demo, 0 skipped, 1 failed"

exits "  with --first, one row" 1 check --first --load wrong.so --impl mine/wrong "rmsnorm/forward/f32/3x{5..9}/normal"
check "  and no more" "$([ "$(wc -l <stdout)" = 2 ] || shows cat stdout)"
says "1 of 5 cases: 0 ok, 0 demo, 0 skipped, 1 failed"
exits "one that is wrong everywhere" 1 check --load wrong.so --impl mine/wrong "rmsnorm/forward/f32/{1..300}x5/normal"
says "(mine/wrong@c has failed 200 times and is not called again)"
check "  and 200 rows say so" "$(grep -c ',fail,' stdout | grep -vx 200)"

# variant NAME CODE [FIELDS]: writes the example with CODE at the beginning of a call
variant() {
    sed "s|(void)threads;|$2|; s|c/rmsnorm|c/$1|; s|\.lanes = 1,|.lanes = 1, ${3-}|" "$root/examples/rmsnorm.c" > "$1.c"
    $cc -O2 -ffp-contract=off -shared -fPIC -include stdlib.h -I"$root/include" -I"$root/core" "$1.c" -lm -o "$1.so" || exit 1
}
# With three rows or more, the kernel multiplies the same factors in another order.
sed 's|y\[i\] = gamma|y[i] = gamma \&\& p->n > 2 ? v * (rstd * gamma[i]) : gamma|; s|c/rmsnorm|c/batch|' \
    "$root/examples/rmsnorm.c" > batch.c
$cc -O2 -ffp-contract=off -shared -fPIC -I"$root/include" batch.c -lm -o batch.so || exit 1
exits "bits that depend on the batch" 0 check --load batch.so --impl c/batch rmsnorm/forward/f32/{2,9}x64/normal
says "note: c/batch@c on rmsnorm/forward/f32/9x64/normal"
says "depends on the batch: y[0]["
exits "  fail with --batch" 1 check --batch --load batch.so --impl c/batch rmsnorm/forward/f32/{2,9}x64/normal
says "repeat: normlab check 'rmsnorm/forward/f32/9x64/normal' --impl 'c/batch@c' --load 'batch.so' --batch"
answers "  and by \`try\`" 0 "depends on the batch: y[0][" try --seconds 0.001 batch.so
answers "  not those of the example" 0 ", the same bits in every batch" try --seconds 0.001 naive.so
# The address sanitizer has its own malloc() and its own handler of SIGFPE.
fpe=", with exit code 1"
if ! grep -q __asan_init "$normlab"; then
    fpe=" (Floating point exception)"
    variant leaky '(void)threads; static void *volatile kept; kept = malloc(100);'
    exits "memory that each call keeps" 1 check --load leaky.so --impl c/leaky "rmsnorm/forward/f32/{1..90}x5/normal"
    says "allocates memory in each call, and does not free it"
fi
variant warm '(void)threads; static void *kept; if (!kept) kept = malloc(100);'
exits "memory that the first one keeps" 0 check --load warm.so --impl c/warm "rmsnorm/forward/f32/{1..90}x5/normal"
if ! "$normlab" --version | grep -q '^threads: built without OpenMP'; then
    variant crowd 'if (threads > 4 \&\& p->n > 4) return;' '.threaded = true,'
    reports "wrong from five threads on" 1 "repeat: " check --threads 6 --load crowd.so --impl c/crowd
    eval "$(sed -n "s/^ *repeat: normlab/run/p" stderr | head -1)"
    check "  also on the smallest case" "$([ $code -eq 1 ] || echo "exit code $code")"
fi

refuses none.so "No such file"
echo text > text.so
refuses text.so "text.so"
refuses . "."
library empty < /dev/null
refuses empty.so "has no normlab_kernel_abi"
library half <<< 'int normlab_kernel_abi(void) { return NL_KERNEL_ABI; }'
refuses half.so "has no normlab_kernel:"
library other <<< 'int normlab_kernel_abi(void) { return NL_KERNEL_ABI + 1; }
const nl_impl *normlab_kernel(size_t i) { return (const nl_impl *)i; }'
refuses other.so "was compiled for version 5 of the kernel interface, and this normlab has 4"
library zero <<< 'int normlab_kernel_abi(void) { return NL_KERNEL_ABI; }
const nl_impl *normlab_kernel(size_t i) { (void)i; return NULL; }'
refuses zero.so "has no kernel"
library endless <<< '
static nl_impl all[100];
static char names[100][8];
static void forward(const nl_problem *p, const nl_forward_args *a, int threads) { (void)p, (void)a, (void)threads; }
int normlab_kernel_abi(void) { return NL_KERNEL_ABI; }
const nl_impl *normlab_kernel(size_t i) {
    names[i][0] = names[i][2] = (char)(97 + i), names[i][1] = 47;
    all[i] = (nl_impl){.name = names[i], .isa = "c", .about = "-", .ops = 1, .passes = 1, .dtypes = 1, .lanes = 1,
                       .forward = forward};
    return &all[i];
}'
refuses endless.so "or an endless list"
library undefined <<< 'int not_anywhere(void);
int normlab_kernel_abi(void) { return not_anywhere(); }'
refuses undefined.so "not_anywhere"
# Libraries that end the process that loads them.
ends() { # ends NAME WORDS < CODE: CODE defines abi(), scratch() and perhaps more
    { cat; echo '
static void forward(const nl_problem *p, const nl_forward_args *a, int threads) { (void)p, (void)a, (void)threads; }
static const nl_impl k = {.name = "mine/end", .isa = "c", .about = "-", .ops = NL_BIT(NL_RMSNORM),
    .passes = NL_BIT(NL_FORWARD), .dtypes = 1, .lanes = 1, .forward = forward, .scratch = scratch};
int normlab_kernel_abi(void) { return abi(); }
const nl_impl *normlab_kernel(size_t i) { return i ? NULL : &k; }'; } | library "$1" -include stdlib.h -include signal.h
    refuses "$1.so" "$2"
}
ends at_once "ended the process that loaded it, with exit code 0" <<< '
__attribute__((constructor)) static void leave(void) { exit(0); }
static int abi(void) { return NL_KERNEL_ABI; } static size_t scratch(const nl_problem *p) { return p->c; }'
ends when_asked "ended the process that loaded it (Aborted)" <<< '
static int abi(void) { abort(); } static size_t scratch(const nl_problem *p) { return p->c; }'
ends in_scratch "ended the process that loaded it (Aborted)" <<< '
static int abi(void) { return NL_KERNEL_ABI; } static size_t scratch(const nl_problem *p) { (void)p; abort(); }'
ends in_scratch_of_no_rows "ended the process that loaded it$fpe" <<< '
static int abi(void) { return NL_KERNEL_ABI; } static size_t scratch(const nl_problem *p) { if (!p->n) raise(SIGFPE); return 4096; }'
library upward -include fenv.h <<< '
__attribute__((constructor)) static void round_up(void) { fesetround(FE_UPWARD); }
int normlab_kernel_abi(void) { return NL_KERNEL_ABI; }
const nl_impl *normlab_kernel(size_t i) { (void)i; return NULL; }'
refuses upward.so "changes floating-point arithmetic when it is loaded"
$cc -shared -fPIC '-DNL_NAME="rmsnorm/naive"' -I"$root/include" -I"$root/core" "$root/rmsnorm/naive.c" -o same.so
refuses same.so "rmsnorm/naive@c already exists: choose another name"
cp naive.so copy.so
reports "a library twice" 2 "--load ./naive.so: is loaded already" check --load naive.so --load ./naive.so $case
reports "a name twice" 2 "--load copy.so: mine/naive@c already exists, from naive.so" check --load naive.so --load copy.so $case
if "$normlab" list --csv | cut -d, -f2 | grep -qx avx2; then
    $cc -shared -fPIC '-DNL_NAME="mine/wide"' -DNL_ISA=avx2 -I"$root/include" -I"$root/core" \
        "$root/rmsnorm/naive.c" -o wide.so
    NL_ISA=c refuses wide.so "mine/wide needs avx2, which this processor or NL_ISA does not allow"
fi
for command in limit tune doctor judge study; do
    exits "$command has no --load" 2 $command --load naive.so
done
reports "--load without a file" 2 "--load needs a value" list --load

summary
