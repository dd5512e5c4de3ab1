/* Making the answer of a case, and calling an implementation on guarded buffers.
 * SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "verify/bound.h"
#include "dtype.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

const char *outcome_name(outcome o) {
    static const char *const names[] = {"ok", "fail", "demo", "skip"};
    return names[o];
}

bool answer_make(const nl_case *c, nl_data *data, answer *out) {
    const nl_problem *p = &c->problem;
    size_t elements = p->n * p->c * p->s, groups = ref_groups(p) + 1;
    bool backward = p->pass == NL_BACKWARD, running = is_batch(p) && p->pass == NL_FORWARD;
    size_t tensors = 2 + c->residual * 2 + backward * 3, wide = 4 * groups + 6 * (p->c + 1);
    long double *w = malloc(wide * sizeof *w + tensors * (elements + 1) * sizeof(double));
    *out = (answer){.memory = w};
    if (!w) return false;
    double *d = (double *)(w + wide), *x = d, *residual = NULL, *dy = NULL;
    ref_outputs *o = &out->want;
    o->mean = w, o->var = w + groups, o->rstd = w + 2 * groups, o->magnitude = w + 3 * groups;
    w += 4 * groups;
    if (running) o->running_mean = w, o->running_var = w + p->c;
    o->dgamma = w + 2 * p->c, o->dgamma_gauge = w + 3 * p->c;
    o->dbeta = w + 4 * p->c, o->dbeta_gauge = w + 5 * p->c;
    o->xhat = d + elements, d += 2 * elements;
    if (c->residual) residual = d, o->sum = backward ? NULL : d + elements, d += 2 * elements;
    if (backward) dy = d, o->dx = d + elements, o->dx_gauge = d + 2 * elements;
    for (size_t i = 0; i < elements; i++) {
        x[i] = nl_load(p->dtype, data->input[X], i);
        if (residual) residual[i] = nl_load(p->dtype, data->input[RESIDUAL], i);
        if (dy) dy[i] = nl_load(p->dtype, data->input[DY], i);
    }
    ref_inputs in = {.x = x,
                     .residual = backward ? NULL : residual,
                     .dy = dy,
                     .dresidual = backward ? residual : NULL,
                     .gamma = data->input[GAMMA],
                     .beta = data->input[BETA],
                     .running_mean = data->input[RUNNING_MEAN],
                     .running_var = data->input[RUNNING_VAR]};
    if (!ref_compute(p, &in, o, data_threads(p))) return answer_free(out), false;
    for (size_t g = 0; backward && p->n && g < ref_groups(p); g++) {
        if (data->input[MEAN]) ((float *)data->input[MEAN])[g] = (float)o->mean[g];
        ((float *)data->input[RSTD])[g] = (float)o->rstd[g];
    }
    return true;
}

void answer_free(answer *a) {
    free(a->memory);
    *a = (answer){0};
}

static sigjmp_buf overrun;
static volatile sig_atomic_t guarded;
static pthread_t caller;

/* Only the thread that made the call can go back to before it; another one's fault ends the run. */
static void on_fault(int signal_number) {
    if (guarded && pthread_equal(pthread_self(), caller)) siglongjmp(overrun, 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads) {
    instance in;
    if (!instance_make(c, data, impl, nl_scratch_bytes(impl, &c->problem), where, &in))
        return failure("out of %s", "memory");
    struct sigaction catch = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, segv, bus;
    sigaction(SIGSEGV, &catch, &segv);
    sigaction(SIGBUS, &catch, &bus);
    verdict v;
    caller = pthread_self();
    if (sigsetjmp(overrun, 1) == 0) {
        guarded = 1;
        nl_status status = instance_call(&in, threads);
        guarded = 0;
        v = status == NL_OK ? compare(&in, a) : failure("%s", nl_message());
    } else {
        guarded = 0;
        v = failure("read or wrote %s its buffers",
                    where == PLACE_END ? "past the end of" : "before the start of");
    }
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
    instance_free(&in);
    return v;
}

verdict verify_model(const nl_case *c, const nl_data *data, const answer *a) {
    instance in = {.c = c, .data = data};
    in.at[Y] = data->model_y;
    return compare(&in, a);
}
