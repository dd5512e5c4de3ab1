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

static void moments_op(void *from, void *into, int *elements, MPI_Datatype *type) {
    (void)type;
    merge_moments(into, from, (size_t)*elements);
}

const nl_reduction nl_sums = {1, add, NULL};
const nl_reduction nl_moments = {3, merge_moments, moments_op};

void *nl_ranks_alloc(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (memory) return memory;
    fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void nl_push(nl_job *job, nl_node *stack, size_t *count, nl_node next) {
    for (; *count; --*count) {
        const nl_node last = stack[*count - 1];
        if (last.width != next.width || last.begin % (2 * last.width)) break;
        if (last.value) job->how->merge(last.value, next.value, job->elements);
        next = (nl_node){last.begin, 2 * last.width, last.value};
    }
    stack[(*count)++] = next;
}

void nl_collapse(nl_job *job, nl_node *stack, size_t count) {
    for (; count > 1; count--)
        job->how->merge(stack[count - 2].value, stack[count - 1].value, job->elements);
}

void nl_job_make(nl_job *job, const nl_ranks *r, const nl_reduction *how, size_t elements) {
    *job = (nl_job){.ranks = r, .how = how, .elements = elements};
    job->parts = nl_ranks_alloc((nl_own(r) + 1) * nl_floats(job) * sizeof(float));
    MPI_Type_contiguous((int)how->width, MPI_FLOAT, &job->type);
    MPI_Type_commit(&job->type);
}

static void start(nl_job *job, bool wait) {
    const nl_ranks *r = job->ranks;
    for (size_t g = 0; g < nl_own(r); g++)
        nl_push(job, job->node, &job->nodes, (nl_node){r->border[r->rank] + g, 1, nl_part(job, g)});
    job->ranks->order->start(job, wait);
}

void nl_job_start(nl_job *job) {
    start(job, false);
}

const float *nl_job_wait(nl_job *job) {
    MPI_Wait(&job->request, MPI_STATUS_IGNORE);
    return job->ranks->order->finish(job);
}

const float *nl_job_run(nl_job *job) {
    start(job, true);
    return job->ranks->order->finish(job);
}

void nl_job_free(nl_job *job) {
    MPI_Type_free(&job->type);
    free(job->parts);
    free(job->all);
    free(job->counts);
}
