/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "verify/known.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf overrun;
static volatile sig_atomic_t guarded;
static pthread_t caller;

/* Only the calling thread can jump back to before the call; a fault in another one ends the run. */
static void on_fault(int signal_number) {
    if (guarded && pthread_equal(pthread_self(), caller)) siglongjmp(overrun, 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static bool same_bound(const nl_impl *a, const nl_impl *b) {
    return a->method == b->method && a->lanes == b->lanes && a->range_safe == b->range_safe &&
           a->demonstration == b->demonstration;
}

/* Compares the outputs, unless the same bits have been compared with the same bound before. */
static verdict check(const instance *in, const answer *a) {
    const uint64_t hash = instance_hash(in, ~0u);
    known *k = a->known;
    for (size_t i = 0; i < KNOWN_MAX && i < k->count; i++)
        if (k->last[i].hash == hash && same_bound(&k->last[i].traits, in->impl))
            return k->last[i].v;
    known_verdict *next = &k->last[k->count++ % KNOWN_MAX];
    *next = (known_verdict){hash, *in->impl, outputs_check(in, a)};
    return next->v;
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
        v = status == NL_OK ? check(&in, a) : failure("%s", nl_message());
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
    in.at[NL_Y] = data->model_y;
    return outputs_check(&in, a);
}
