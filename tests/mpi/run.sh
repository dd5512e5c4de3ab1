#!/usr/bin/env bash
# Tests the rungs across ranks: the suite with OpenMPI on up to 8 ranks and with MPICH on 2, and mutants, which must
# fail in the named rungs. Usage: tests/mpi/run.sh BUILD_FOLDER, from the root. SPDX-License-Identifier: MIT
set -uo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
build=$1 bad=0 copy=$1/ranks_mutant
some=(batchnorm/{forward,backward}/f32/33x7/normal layernorm/{forward,backward}/f32/130x33/normal)
# PROGRAM CASE...: runs 8 ranks, even on fewer processors. MPICH gets 2 ranks: 8 would take minutes, because waiting
# ranks do not yield.
ranks() {
    local run=(mpirun.openmpi --oversubscribe -n 8)
    [[ $1 != *mpich* ]] || run=(mpirun.mpich -n 2)
    timeout 300 "${run[@]}" "$build/$1" check "${@:2}" 2>&1 </dev/null
}
fails() { # WHY
    echo "FAIL  $1" && bad=1
}
for mpi in openmpi mpich; do
    echo "== $mpi" && ranks normlab_$mpi mpi/cases.txt || fails "the suite with $mpi"
done
[[ $(ranks normlab_openmpi no/such/case) == *"case no/such/case: "* ]] || fails "a bad case is not named"
[[ $(ranks normlab_openmpi batchnorm/forward/f32/0x3/normal) == *"no rung accepts"* ]] || fails "no rows"

b=batchnorm forward="batchnorm_merged batchnorm_overlapped batchnorm_two" moments="${b}_merged ${b}_overlapped rows_features rows_pipelined"
all="${b}_backward ${b}_merged ${b}_overlapped ${b}_two rows_features rows_gradients rows_pipelined"
while IFS='|' read -r name file change expected mpi; do
    cp mpi/*.[ch] "$copy" && sed -i "$change" "$copy/$file"
    ! cmp -s "mpi/$file" "$copy/$file" || fails "$name changes nothing"
    mutant=normlab_${mpi:-openmpi}_mutant
    cmake --build "$build" --target $mutant >"$copy/log" 2>&1 || { cat "$copy/log" && fails "$name is not built" && continue; }
    found=$(ranks $mutant "${some[@]}" | sed -n 's/^FAIL \([a-z_]*\) .*/\1/p' | sort -u | paste -sd ' ')
    [[ $found && $found == "$expected" ]] && echo "ok    $name: refused in $found" || fails "$name: refused in '$found', not in '$expected'"
done <<EOF
variances added|ranks.c|s/ + d \* d \* (a.n \* share)//|$moments
counts forgotten|ranks.c|s,share = b.n / n,share = 0.5f,|$moments
a rank lost, any|order_any.c|s,g < r->own,r->rank < 2 \&\& &,|$all
a rank lost, tree|order_tree.c|s/^    const int own =.*/&\n    if (r->rank == 2) memset(job->parts, 0, own * job->how->width * sizeof(float));/|$all
bits of the number of ranks|order_tree.c|s/(size_t width = 1; width < segments/(size_t width = (size_t)job->ranks->size; width < segments/|$all
variance of this rank's count|groups.h|s/v.n = r->total/(void)r/|$forward
mean of this rank's count|batchnorm_two.c|s/r->total/v.n/|${b}_two
dx of this rank's count|batchnorm_backward.c|s/r->total/v.n/|${b}_backward
the last channels lost|batchnorm_overlapped.c|s/r, false, v.c,/r, false, v.c - 1,/|${b}_overlapped
the last rows lost|rows_pipelined.c|s/r, true, v.n,/r, true, v.n - 1,/|rows_pipelined
features of this rank|groups.h|s/job->ranks->total/(rows ? v.c : job->ranks->total)/|rows_features rows_pipelined
an input changed|batchnorm_merged.c|s/nl_in_blocks.*/&\n    if (v.c) ((float *)v.gamma)[0] = 2;/|batchnorm_merged
declared commutative|ranks.c|s/commutative = 0/commutative = 1/|$moments|mpich
gradients of this rank|rows_gradients.c|s/= nl_job_run(&job);/= nl_part(\&job, 0); nl_job_run(\&job);/|rows_gradients
EOF
exit $bad
