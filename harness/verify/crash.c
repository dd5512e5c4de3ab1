/* SPDX-License-Identifier: MIT */
#include "verify/worker.h"
#include "platform/system.h"
#include "verify/constants.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { NEAR_NULL = 1 << 20 };

static const char *access_text(const call_record *s) {
    static const char *const texts[] = {[ACCESS_UNKNOWN] = "read or wrote",
                                        [ACCESS_READ] = "read",
                                        [ACCESS_WRITE] = "wrote",
                                        [ACCESS_JUMP] = "jumped to code"};
    return texts[s->access];
}

/* The buffer of this case whose memory or guard pages hold the address; NL_ARGS + 1: none. */
static int buffer_at(const call_record *s) {
    int i = 0;
    for (; i <= NL_ARGS; i++) {
        const char *map = i < NL_ARGS && !s->in.at[i] ? NULL : s->in.map[i];
        if (map && s->address >= map && s->address < map + s->in.map_bytes[i]) break;
    }
    return i;
}

/* Returns i or, if the kernel wrote there, the output that overwrites input i in place. */
static int written_over(const call_record *s, int i) {
    const bool shared = i < NL_ARGS && s->c.in_place & NL_BIT(i);
    return shared && s->access == ACCESS_WRITE ? (int)case_output_over(&s->c, (nl_arg)i) : i;
}

/* Writes, for example, "y[1024] of row 63". Only tensors with s = 1 get a row: the nearest one. */
static void name_element(const call_record *s, int i, long long at, char *text, size_t size) {
    const nl_problem *p = &s->c.problem;
    const char *name = i == NL_ARGS ? "scratch" : nl_arg_name((nl_arg)i, p->pass);
    if (i < NL_ARGS && nl_args[i].extent == NL_TENSOR && p->s == 1 && p->n > 0) {
        const long long c = (long long)p->c, last = (long long)p->n - 1;
        const long long row = at < 0 ? 0 : at / c < last ? at / c : last;
        snprintf(text, size, "%s[%lld] of row %lld", name, at - row * c, row);
    } else
        snprintf(text, size, "%s%s%lld]", name, i == NL_ARGS ? "[byte " : "[", at);
}

static void describe_buffer(const call_record *s, int i, char *why, size_t size) {
    const nl_problem *p = &s->c.problem;
    const bool scratch = i == NL_ARGS, tensor = !scratch && nl_args[i].extent == NL_TENSOR;
    const long long wide = scratch ? 1 : tensor ? (long long)nl_dtype_size(p->dtype) : 4;
    const char *begin = scratch ? s->in.scratch : s->in.at[i];
    const size_t bytes =
        scratch ? (s->in.scratch_bytes + 63) / 64 * 64 : nl_arg_bytes(p, (nl_arg)i);
    const long long offset = s->address - begin, count = (long long)bytes / wide;
    const long long at = offset < 0 ? -((wide - 1 - offset) / wide) : offset / wide;
    const long long off = at < 0 ? -at : at - count + 1;
    char element[80];
    name_element(s, written_over(s, i), at, element, sizeof element);
    if (s->access == ACCESS_JUMP)
        snprintf(why, size, "jumped to %s, which is no code", element);
    else if (at >= 0 && at < count)
        snprintf(why, size, "%s %s: an input, which a call must not write", access_text(s),
                 element);
    else
        snprintf(why, size, "%s %s: %lld %s%s %s", access_text(s), element, off,
                 scratch ? "byte" : "element", off == 1 ? "" : "s",
                 at < 0 ? "before its start" : "past its end");
}

/* Names the arguments that are NULL in this case. */
static void describe_null(const call_record *s, char *why, size_t size) {
    const nl_problem *p = &s->c.problem;
    const unsigned takes = nl_takes(p->op, p->pass);
    size_t used = (size_t)snprintf(why, size, "%s through a NULL pointer, %zu bytes from it",
                                   access_text(s), (size_t)(uintptr_t)s->address);
    const char *before = "; NULL in this case: ";
    for (nl_arg i = 0; i < NL_ARGS && used < size; i++) {
        if (!(takes & NL_BIT(i)) || s->in.at[i]) continue;
        used += (size_t)snprintf(why + used, size - used, "%s%s", before, nl_arg_name(i, p->pass));
        before = ", ";
    }
    if (!s->in.scratch_bytes && used < size) snprintf(why + used, size - used, "%sscratch", before);
}

static void describe_access(const call_record *s, char *why, size_t size) {
    const char *stack = s->stack;
    const int i = buffer_at(s);
    const char *constant = constants_name(s->constants, s->address);
    if (i <= NL_ARGS)
        describe_buffer(s, i, why, size);
    else if (constant)
        snprintf(why, size, "%s its %s, which a call must not write", access_text(s), constant);
    else if (s->address >= stack - STACK_GUARD && s->address < stack + STACK_BYTES)
        snprintf(why, size,
                 "overflowed its stack of %d MiB: too large arrays, or endless recursion",
                 STACK_BYTES >> 20);
    else if (has_no_address(s->code))
        snprintf(why, size,
                 "used an invalid pointer, or an aligned load or store of a vector that is "
                 "not aligned (SIGSEGV)");
    else if ((uintptr_t)s->address < NEAR_NULL)
        describe_null(s, why, size);
    else
        snprintf(why, size, "%s at %p, which is far from all its buffers", access_text(s),
                 (void *)s->address);
}

void crash_describe(const call_record *s, char *why, size_t size) {
    char call[40];
    switch (s->signal) {
    case SIGSEGV: describe_access(s, why, size); return;
    case SIGBUS: snprintf(why, size, "accessed memory that does not exist (SIGBUS)"); return;
    case SIGFPE:
        snprintf(why, size,
                 s->code >= FPE_FLTDIV && s->code <= FPE_FLTSUB
                     ? "met a floating-point exception that traps (SIGFPE)"
                     : "divided an integer by zero (SIGFPE)");
        return;
    case SIGILL:
        snprintf(why, size,
                 "ran an instruction that this processor lacks (SIGILL), or reached code that "
                 "the compiler took for unreachable");
        return;
    case SIGABRT: snprintf(why, size, "called abort()"); return;
    case SIGTRAP: snprintf(why, size, "ran into a trap (SIGTRAP)"); return;
    case SIGSYS:
        sandbox_call(s->code, call, sizeof call);
        snprintf(why, size,
                 "called %s(), which starts a process, signals another, changes files or "
                 "reaches the network",
                 call);
        return;
    case SIGXFSZ: snprintf(why, size, "wrote more than %d MiB", OUTPUT_MOST >> 20); return;
    default: snprintf(why, size, "was ended by signal %d (%s)", s->signal, strsignal(s->signal));
    }
}

/* Are the notes of the process plausible? A kernel can overwrite them. */
static bool sound(const call_record *s) {
    const nl_problem *p = &s->c.problem;
    return (unsigned)p->op < NL_OPS && (unsigned)p->pass < NL_PASSES &&
           (unsigned)p->dtype < NL_DTYPES && (unsigned)s->access <= ACCESS_JUMP &&
           memchr(s->c.text, 0, sizeof s->c.text);
}

void crash_describe_end(const call_record *shared, int status, char *why, size_t size) {
    const call_record copy = *shared, *s = &copy;
    if (!sound(s))
        snprintf(why, size, "overwrote data of the checker");
    else if (s->signal)
        crash_describe(s, why, size);
    else if (s->state == CALL_WAITS)
        snprintf(why, size, "was not called: the process for kernels had ended");
    else if (s->state == CALL_RETURNED)
        snprintf(why, size, "closed files that are not its own");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        snprintf(why, size,
                 "a thread overflowed its stack (SIGSEGV without a stack for its handler)");
    else if (WIFSIGNALED(status))
        snprintf(why, size, "was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (s->exited)
        snprintf(why, size, "called exit()");
    else if (s->ended_thread)
        snprintf(why, size, "ended its thread, as by pthread_exit()");
    else
        snprintf(why, size, "ended the process with exit code %d, as by _exit()",
                 WEXITSTATUS(status));
}
