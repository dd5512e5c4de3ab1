/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"

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

/* A verdict, and all that it follows from: many rungs compute the same bits, at both placements. */
typedef struct known {
    unsigned long answer;
    uint64_t hash; /* of all arguments after the call */
    nl_impl impl;  /* as far as the bound depends on it */
    verdict v;
} known;

static bool same(const known *a, unsigned long answer, uint64_t hash, const nl_impl *impl) {
    return a->answer == answer && a->hash == hash && a->impl.method == impl->method &&
           a->impl.lanes == impl->lanes && a->impl.range_safe == impl->range_safe &&
           a->impl.demonstration == impl->demonstration;
}

/* Compares the outputs, unless the same bits have just been compared within the same bound. */
static verdict check(const instance *in, const answer *a) {
    enum { KNOWN = 32 };
    static known last[KNOWN];
    static size_t next;
    const uint64_t hash = instance_hash(in);
    for (known *k = last; k < last + KNOWN; k++)
        if (same(k, a->number, hash, in->impl)) return k->v;
    known *k = &last[next++ % KNOWN];
    *k = (known){a->number, hash, *in->impl, outputs_check(in, a)};
    return k->v;
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
