/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <stdio.h>

static void add(float *into, const float *from, size_t elements) {
    for (size_t i = 0; i < elements; i++) into[i] += from[i];
}

/* Chan, Golub & LeVeque 1979: d is the distance of the means. */
static void merge_moments(float *into, const float *from, size_t elements) {
    for (size_t i = 0; i < elements; i++, into += 3, from += 3) {
        const float na = into[0], nb = from[0], n = na + nb;
        if (nb == 0) continue;
        const float d = from[1] - into[1], share = nb / n;
        into[0] = n;
        into[1] = na == 0 ? from[1] : into[1] + d * share;
        into[2] = na == 0 ? from[2] : into[2] + from[2] + d * d * (na * share);
    }
}

/* MPI gives the part of the lower ranks first, and expects the result in the second. */
static void moments_op(void *lower, void *upper, int *elements, MPI_Datatype *type) {
    const size_t floats = 3 * (size_t)*elements;
    (void)type;
    for (size_t i = 0; i < floats; i += 3) {
        float merged[3];
        memcpy(merged, (float *)lower + i, sizeof merged);
        merge_moments(merged, (float *)upper + i, 1);
        memcpy((float *)upper + i, merged, sizeof merged);
    }
}

const nl_reduction nl_sums = {1, add, NULL};
const nl_reduction nl_moments = {3, merge_moments, moments_op};

void *nl_zeros(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (memory) return memory;
    fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void nl_job_make(nl_job *job, const nl_ranks *r, const nl_reduction *how, size_t elements) {
    *job = (nl_job){.ranks = r, .how = how, .elements = elements, .floats = elements * how->width};
    job->parts = nl_zeros(nl_own(r) * job->floats * sizeof(float));
    MPI_Type_contiguous((int)how->width, MPI_FLOAT, &job->type);
    MPI_Type_commit(&job->type);
}

void nl_job_start(nl_job *job) {
    job->ranks->order->start(job);
}

const float *nl_job_wait(nl_job *job) {
    MPI_Wait(&job->request, MPI_STATUS_IGNORE);
    job->ranks->order->finish(job);
    return job->all;
}

const float *nl_job_run(nl_job *job) {
    nl_job_start(job);
    return nl_job_wait(job);
}

void nl_job_free(nl_job *job) {
    MPI_Type_free(&job->type);
    free(job->parts), free(job->all), free(job->counts);
}
