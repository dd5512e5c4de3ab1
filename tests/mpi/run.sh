#!/usr/bin/env bash
# The rungs across ranks: the suite with OpenMPI on up to 8 ranks and with MPICH on 2, and mutants, which must fail in
# the rungs named. Usage: tests/mpi/run.sh BUILD_FOLDER, from the root. SPDX-License-Identifier: MIT
set -uo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
build=$1 bad=0 copy=$1/ranks_mutant
some=(batchnorm/{forward,backward}/f32/33x7/normal layernorm/{forward,backward}/f32/130x33/normal)
ranks() { # PROGRAM CASE...: on 8 ranks, more than there are processors
    timeout 300 mpirun.openmpi --oversubscribe -n 8 "$build/$1" check "${@:2}" 2>&1 </dev/null
}
fails() { # WHY
    echo "FAIL  $1" && bad=1
}
echo "== OpenMPI" && ranks normlab_openmpi mpi/cases.txt || fails "the suite with OpenMPI"
# Ranks of MPICH do not yield while they wait: more than there are processors would take minutes.
echo "== MPICH" && timeout 300 mpirun.mpich -n 2 "$build/normlab_mpich" check mpi/cases.txt || fails "the suite with MPICH"
[[ $(ranks normlab_openmpi no/such/case) == *"case no/such/case: "* ]] || fails "a bad case is not named"

# Now, because configuring copies the sources again.
cp mpi/*.[ch] "$copy" && cmake --build "$build" --target normlab_ranks_mutant >/dev/null || fails "the program is not built"
b=batchnorm forward="batchnorm_merged batchnorm_overlapped batchnorm_two" moments="${b}_merged ${b}_overlapped rows_features rows_pipelined"
all="${b}_backward ${b}_merged ${b}_overlapped ${b}_two rows_features rows_gradients rows_pipelined"
while IFS='|' read -r name file change expected; do
    cp mpi/*.[ch] "$copy" && sed -i "$change" "$copy/$file"
    ! cmp -s "mpi/$file" "$copy/$file" || fails "$name changes nothing"
    cmake --build "$build" --target normlab_ranks_mutant >"$copy/log" 2>&1 || { cat "$copy/log" && fails "$name is not built" && continue; }
    found=$(ranks normlab_ranks_mutant "${some[@]}" | sed -n 's/^FAIL \([a-z_]*\) .*/\1/p' | sort -u | paste -sd ' ')
    [[ $found && $found == "$expected" ]] && echo "ok    $name: refused in $found" || fails "$name: refused in '$found', not in '$expected'"
done <<EOF
variances added|ranks.c|s/ + d \* d \* (a.n \* share)//|$moments
counts forgotten|ranks.c|s,share = b.n / n,share = 0.5f,|$moments
a rank lost, any|order_any.c|s/g < nl_own(r)/r->rank < 2 \&\& &/|$all
a rank lost, tree|order_tree.c|s/^    const int own =.*/&\n    if (r->rank == 2) memset(job->parts, 0, own * job->how->width * sizeof(float));/|$all
bits of the number of ranks|order_tree.c|s/(size_t width = 1; width < segments/(size_t width = (size_t)job->ranks->size; width < segments/|$all
variance of this rank's count|groups.h|s/whole.n = r->total/(void)r/|$forward
mean of this rank's count|batchnorm_two.c|s/r->total/v.n/|${b}_two
dx of this rank's count|batchnorm_backward.c|s/r->total/v.n/|${b}_backward
the last channels lost|batchnorm_overlapped.c|s/r, false, v.c,/r, false, v.c - 1,/|${b}_overlapped
the last rows lost|rows_pipelined.c|s/r, true, v.n,/r, true, v.n - 1,/|rows_pipelined
features of this rank|groups.h|s/job->ranks->total/(rows ? v.c : job->ranks->total)/|rows_features rows_pipelined
gradients of this rank|rows_gradients.c|s/= nl_job_run(&job);/= nl_part(\&job, 0); nl_job_run(\&job);/|rows_gradients
EOF
exit $bad
