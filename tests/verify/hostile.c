/* Kernels that do harm: each gets the verdict that it deserves, and the harness lives on.
 * SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept, pthread_getattr_np */
#endif
#include "benched.h"
#include "trial.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(hostile, .init = one_thread);

/* The arguments of the kernel that this thread runs, in any pass. */
typedef struct call {
    const nl_problem *p;
    const void *arguments;
    const float *x, *gamma;
    float *out; /* y or dx */
    char *scratch;
} call;

static _Thread_local call c;

static volatile float sink;

static void write_past(void) {
    c.out[c.p->n * c.p->c] = 1;
}

static void write_far_past(void) {
    c.out[c.p->n * c.p->c + 99] = 1;
}

static void write_before(void) {
    c.out[-1] = 1;
}

static void read_past(void) {
    sink = c.x[c.p->n * c.p->c];
}

static void read_before(void) {
    sink = c.x[-2];
}

static void read_gamma_past(void) {
    sink = c.gamma[c.p->c];
}

static void write_input(void) {
    ((float *)c.x)[c.p->c + 3] = 1;
}

static void write_gamma(void) {
    ((float *)c.gamma)[2] = 1;
}

static void write_problem(void) {
    ((nl_problem *)c.p)->n /= 2;
}

static void write_arguments(void) {
    *(const void **)c.arguments = c.gamma; /* the first is x */
}

static void write_scratch_past(void) {
    c.scratch[64] = 1;
}

static float *volatile nowhere;

static void write_null(void) {
    nowhere[4] = 1;
}

static void wild(void) {
    float *volatile at = (float *)(uintptr_t)0xdead00000000bee0;
    *at = 1;
}

static int recurse(volatile char *before, int depth) {
    volatile char room[4096];
    room[0] = before[0];
    return depth < 0 ? 0 : 1 + recurse(room, depth + 1) + room[0];
}

static void overflow(void) {
    sink = (float)recurse((char *)c.out, 0);
}

static void divide(void) {
    volatile int zero = 0;
    raise(SIGFPE); /* on processors such as Candidate's this does not trap */
    sink = (float)((int)c.p->n / zero);
}

static void trap(void) {
    raise(SIGILL);
}

static void give_up(void) {
    abort();
}

static void leave(void) {
    exit(3);
}

static void leave_at_once(void) {
    _exit(3);
}

static void leave_well(void) {
    exit(0);
}

static void kill_itself(void) {
    kill(getpid(), SIGKILL);
}

static void loop(void) {
    for (volatile unsigned i = 0;; i++) sink = (float)i;
}

static void print(void) {
    printf("mean 0.5\nrstd 1\n");
}

static void print_much(void) {
    for (int i = 0; i < 1 << 20; i++) fputs("again and again ", stderr);
}

static void round_up(void) {
    fesetround(FE_UPWARD);
}

static void trap_later(void) {
    feenableexcept(FE_DIVBYZERO);
}

static void trap_now(void) {
    volatile float zero = 0;
    feenableexcept(FE_DIVBYZERO);
    sink = (float)c.p->n / zero;
}

static void end_thread(void) {
    pthread_exit(NULL);
}

static void unmap(void) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), out = (uintptr_t)c.out;
    munmap((void *)(out - out % page), page);
}

#ifdef __SSE2__ /* fegetround() does not see it */
static void round_vectors_up(void) {
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x4000);
}
#endif

static void set_alarm(void) {
    alarm(20);
}

static void block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void limit_stack(void) {
    struct rlimit most;
    getrlimit(RLIMIT_STACK, &most);
    most.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &most);
}

static void replace_stdout(void) {
    const int nowhere = open("/dev/null", O_RDONLY);
    dup2(nowhere, 1);
    close(nowhere);
}

static void write_anywhere(void) {
    for (int fd = 3; fd < 64; fd++)
        if (write(fd, "x", 1) < 0) continue;
}

static void truncate_file(void) {
    close(open("/dev/null", O_RDONLY | O_TRUNC));
}

static void limit_parent(void) {
    struct rlimit old;
    prlimit(getppid(), RLIMIT_CORE, NULL, &old); /* asks only: no harm where nothing keeps it */
}

static void *wait_long(void *unused) {
    sleep(20);
    return unused;
}

static void leave_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_long, NULL);
}

static void start_process(void) {
    if (fork() == 0) sleep(20);
}

static void start_process_and_crash(void) {
    start_process();
    abort();
}

static void close_files(void) {
    for (int i = 0; i < 256; i++) close(i);
}

/* Buffers may lie there, and a write far before one must not reach the stack unnoticed. */
static void write_above_stack(void) {
    pthread_attr_t stack;
    void *at;
    size_t bytes;
    pthread_getattr_np(pthread_self(), &stack);
    pthread_attr_getstack(&stack, &at, &bytes);
    ((volatile char *)at)[bytes + 1] = 1;
}

static void write_pages_past(void) {
    c.out[c.p->n * c.p->c + 1040] = 1;
}

static void close_stdout(void) {
    close(1);
}

static void go_on(int number) {
    (void)number;
}

static void take_handler(void) {
    signal(SIGSEGV, go_on);
}

#ifndef __SANITIZE_ADDRESS__ /* it maps too much to be limited */
static char *volatile kept;

static void exhaust(void) {
    kept = malloc((size_t)2 << 30); /* a GiB is the limit */
    kept[0] = 1;
    c.out[0] = 1;
}
#endif

static void jump_nowhere(void) {
    void (*volatile at)(void) = (void (*)(void))(uintptr_t)c.out;
    at();
}

static void write_file(void) {
    FILE *f = fopen("/dev/null", "w");
    if (f) fclose(f);
}

static void signal_parent(void) {
    kill(getppid(), 0); /* no harm where nothing keeps it */
}

static void run_program(void) {
    execl("/bin/true", "true", NULL);
}

static void do_nothing(void) {
}

static void (*now)(void);

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    c = (call){p, a, a->x, a->gamma, a->y, a->scratch}, now();
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    c = (call){p, a, a->x, a->gamma, a->dx, a->scratch}, now();
}

static size_t scratch(const nl_problem *p) {
    (void)p;
    return 64;
}

static const nl_impl kernel = {.name = "hostile",
                               .isa = "c",
                               .about = "harmful",
                               .ops = ~0u,
                               .passes = ~0u,
                               .dtypes = ~0u,
                               .method = NL_TWO_PASS,
                               .lanes = 1,
                               .forward = forward,
                               .backward = backward,
                               .scratch = scratch};

/* On 5 rows of 24. %s is y or dx; after | stands the message of a build with libseccomp or a
 * sanitizer. */
static const struct {
    void (*kernel)(void);
    placement where;
    const char *why;
} mistakes[] = {
    {write_past, PLACE_END, "wrote %s[24] of row 4: 1 element past its end"},
    {write_far_past, PLACE_END, "wrote %s[123] of row 4: 100 elements past its end"},
    {write_before, PLACE_START, "wrote %s[-1] of row 0: 1 element before its start"},
    {write_above_stack, PLACE_END, "far from all its buffers"},
    {read_past, PLACE_END, "read x[24] of row 4: 1 element past its end"},
    {read_before, PLACE_START, "read x[-2] of row 0: 2 elements before its start"},
    {read_gamma_past, PLACE_END, "read gamma[24]: 1 element past its end"},
    {write_input, PLACE_END, "wrote x[3] of row 1: an input"},
    {write_gamma, PLACE_END, "wrote gamma[2]: an input"},
    {write_problem, PLACE_END, "wrote n of its problem"},
    {write_arguments, PLACE_END, "wrote x of its arguments"},
    {write_scratch_past, PLACE_END, "wrote scratch[byte 64]: 1 byte past its end"},
    {write_null, PLACE_END, "wrote through a NULL pointer, 16 bytes from it"},
    {wild, PLACE_END, "a pointer that is no address"},
    {overflow, PLACE_END, "overflowed its stack of 8 MiB"},
    {divide, PLACE_END, "divided an integer by zero"},
    {trap, PLACE_END, "SIGILL"},
    {give_up, PLACE_END, "called abort()"},
    {leave, PLACE_END, "called exit()"},
    {leave_well, PLACE_END, "called exit()"},
    {leave_at_once, PLACE_END, "ended the process with exit code 3"},
    {kill_itself, PLACE_END, "signal 9"},
    {loop, PLACE_END, "has not returned after"},
    {print, PLACE_END, "printed \"mean 0.5 rstd 1\""},
    {print_much, PLACE_END, "wrote more than 1 MiB"},
    {round_up, PLACE_END, "rounding mode"},
    {trap_later, PLACE_END, "floating-point arithmetic changed"},
    {trap_now, PLACE_END, "floating-point exception that traps"},
#ifdef __SSE2__
    {round_vectors_up, PLACE_END, "rounding mode"},
#endif
    {set_alarm, PLACE_END, "left a timer running"},
    {block_signals, PLACE_END, "left signals blocked"},
    {limit_stack, PLACE_END, "limits of the process"},
    {replace_stdout, PLACE_END, "put others in their place"},
    {write_anywhere, PLACE_END, "wrote to files that are not its own"},
    {truncate_file, PLACE_END, "nan, should be|called openat()"},
    {limit_parent, PLACE_END, "nan, should be|called prlimit64()"},
    {end_thread, PLACE_END, "pthread_exit()|AddressSanitizer"},
    {unmap, PLACE_END, "unmapped memory"},
    {leave_thread, PLACE_END, "left threads running after it returned (OpenMP's may stay"},
    {start_process, PLACE_END, "started a process|called clone()"},
    {start_process_and_crash, PLACE_END, "called abort()|called clone()"},
    {close_files, PLACE_END, "closed files that are not its own"},
    {close_stdout, PLACE_END, "closed files that are not its own"},
    {take_handler, PLACE_END, "left a handler of SIGSEGV"},
#ifndef __SANITIZE_ADDRESS__
    {exhaust, PLACE_END, "NULL pointer"},
#endif
    {jump_nowhere, PLACE_END, "jumped to %s[0] of row 0"},
    {write_file, PLACE_END, "nan, should be|called openat()"},
    {signal_parent, PLACE_END, "nan, should be|called kill()"},
    {run_program, PLACE_END, "exit code 0|called execve()"},
    {do_nothing, PLACE_END, "nan, should be"},
};

static const struct {
    const char *text, *out;
} passes[] = {{"layernorm/forward/f32/5x24/normal", "y"},
              {"rmsnorm/backward/f32/5x24/normal", "dx"},
              {"batchnorm/inference/f32/5x24/normal", "y"}};

Test(hostile, every_mistake_is_named) {
    size_t named = 0, all = 0;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        trial t;
        trial_make(&t, passes[i].text);
        for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
            char expected[100];
            now = mistakes[k].kernel;
            if (now == loop && i > 0) continue; /* it takes its time */
            const verdict v = verify(&t.c, &t.data, &t.want, &kernel, mistakes[k].where, 1);
            snprintf(expected, sizeof expected, mistakes[k].why, passes[i].out);
            char *other = strchr(expected, '|');
            if (other) *other++ = '\0';
            const bool good = v.outcome == OUTCOME_FAIL &&
                              (strstr(v.why, expected) || (other && strstr(v.why, other)));
            cr_expect(good, "%s: %s: '%s', not '%s'", passes[i].text, outcome_name(v.outcome),
                      v.why, expected);
            named += good, all++;
        }
        trial_end(&t);
    }
    fprintf(stderr, "%zu of %zu mistakes named\n", named, all);
    cr_assert(named == all && all >= 40);
}

static size_t much_scratch(const nl_problem *p) {
    (void)p;
    return SIZE_MAX / 1024;
}

/* Beyond y's guard lies memory for dx, which forward does not have; and scratch may be
 * miscounted. */
Test(hostile, no_absent_buffer_and_no_huge_one) {
    trial t;
    trial_make(&t, passes[0].text);
    now = write_pages_past;
    verdict v = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, 1);
    cr_expect(v.outcome == OUTCOME_FAIL && strstr(v.why, "far from all its buffers"), "%s", v.why);
    nl_impl greedy = kernel;
    greedy.scratch = much_scratch;
    v = verify(&t.c, &t.data, &t.want, &greedy, PLACE_END, 1);
    cr_expect(v.outcome == OUTCOME_FAIL && strstr(v.why, "more than 1 GiB"), "%s", v.why);
    trial_end(&t);
}

/* bench also makes its first call in a child process, even for a case that is not copied there. */
Test(hostile, bench_lives_on) {
    static const char *const cases[] = {"rmsnorm/forward/f32/5x24/normal",
                                        "rmsnorm/forward/f32/2049x1024/normal"};
    cr_assert(nl_registry_add(&kernel));
    for (int i = 0; i < 2; i++) {
        char error[700];
        nl_case one;
        cr_assert(case_parse(cases[i], &one, error, sizeof error));
        now = i ? write_far_past : read_past;
        const verdict v = bench_verdict(&one, kernel.name);
        const char *expected = i ? "wrote y[1123] of row 2048" : "read x[24] of row 4";
        cr_expect(v.outcome == OUTCOME_FAIL && strstr(v.why, expected), "%s", v.why);
    }
}
