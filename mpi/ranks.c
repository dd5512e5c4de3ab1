/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <stdio.h>

static void add(void *into, const void *from, size_t elements) {
    for (size_t i = 0; i < elements; i++) ((float *)into)[i] += ((const float *)from)[i];
}

typedef struct moments {
    float n, mean, m2;
} moments;

/* Chan, Golub & LeVeque 1979: d is the distance of the means. */
static moments merged(moments a, moments b) {
    if (a.n == 0 || b.n == 0) return a.n == 0 ? b : a;
    const float n = a.n + b.n, d = b.mean - a.mean, share = b.n / n;
    return (moments){n, a.mean + d * share, a.m2 + b.m2 + d * d * (a.n * share)};
}

static void merge_moments(void *into, const void *from, size_t elements) {
    moments *a = into;
    for (size_t i = 0; i < elements; i++) a[i] = merged(a[i], ((const moments *)from)[i]);
}

/* MPI passes the lower ranks' part as the first argument, and expects the result in the second. */
static void moments_op(void *lower, void *upper, int *elements, MPI_Datatype *type) {
    moments *b = upper;
    (void)type;
    for (int i = 0; i < *elements; i++) b[i] = merged(((moments *)lower)[i], b[i]);
}

nl_reduction nl_sums = {1, add, MPI_FLOAT, MPI_SUM}, nl_moments = {.width = 3, merge_moments};

void nl_moments_make(void) {
    const int commutative = 0;
    MPI_Op_create(moments_op, commutative, &nl_moments.op);
    MPI_Type_contiguous(3, MPI_FLOAT, &nl_moments.type);
    MPI_Type_commit(&nl_moments.type);
}

void *nl_zeros(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) fprintf(stderr, "out of memory: %zu bytes\n", bytes), MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

void nl_job_make(nl_job *job, const nl_ranks *r, const nl_reduction *how, size_t elements) {
    *job = (nl_job){.ranks = r, .how = how, .elements = elements, .floats = elements * how->width};
    job->parts = nl_zeros(r->own * job->floats * sizeof(float));
}

float *nl_job_wait(nl_job *job) {
    MPI_Wait(&job->request, MPI_STATUS_IGNORE);
    if (job->ranks->order->finish) job->ranks->order->finish(job);
    return job->all;
}

float *nl_job_run(nl_job *job) {
    job->ranks->order->start(job);
    return nl_job_wait(job);
}

void nl_job_free(nl_job *job) {
    free(job->parts), free(job->all), free(job->counts);
}
