/* The process in which kernels run: guard pages around its buffers, inputs that cannot be written,
 * a limit on memory and output, and a handler that notes how a kernel crashed.
 * SPDX-License-Identifier: MIT */
#include "verify/worker.h"
#include "base/clock.h"
#include "parallel.h"
#include "platform/platform.h"
#include "platform/system.h"
#include "registry.h"
#include "verify/constants.h"
#include "verify/pair.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#define SANITIZERS_MAP ((size_t)1 << 40) /* sanitizers reserve more: set no limit */

extern void __gcov_dump(void) __attribute__((weak));

static call_record *here; /* for the signal handler, which gets no argument */
static char *stack;

/* Skips the exit handlers, which are the parent's; only a coverage build must save its counts. */
_Noreturn void worker_leave(int code) {
    if (__gcov_dump) __gcov_dump();
    _exit(code);
}

static void on_crash(int number, siginfo_t *info, void *context) {
    here->code = number == SIGSYS ? refused_call(info) : info->si_code;
    here->address = info->si_addr;
    here->access = number == SIGSEGV ? fault_access(context) : ACCESS_UNKNOWN;
    here->signal = number;
    worker_leave(1);
}

/* Runs before the other exit handlers, which are the parent's, or a runtime's. */
static void on_exit_called(void) {
    here->exited = true;
    worker_leave(0);
}

static void watch_crashes(void) {
    static const int crashes[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                  SIGABRT, SIGTRAP, SIGXFSZ, SIGSYS};
    static char room[1 << 16]; /* an overflowed stack has no room for the handler */
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    struct sigaction catch = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &catch, NULL);
}

/* Gives each buffer its guard pages, and makes the inputs unwritable. */
static void protect(const instance *in, const bool *writable) {
    static struct layout {
        void *map[NL_ARGS + 1];
        size_t bytes[NL_ARGS + 1];
        bool writable[NL_ARGS + 1];
    } now;
    struct layout want;
    if (!in->shared) return; /* the instance has its own guard pages */
    memset(&want, 0, sizeof want);
    memcpy(want.map, in->map, sizeof want.map);
    memcpy(want.bytes, in->map_bytes, sizeof want.bytes);
    memcpy(want.writable, writable, sizeof want.writable);
    if (memcmp(&want, &now, sizeof now) == 0) return;
    now = want;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static char *end; /* the end of the largest instance so far */
    for (int i = 0; i <= NL_ARGS; i++)
        if (in->map[i] && (char *)in->map[i] + in->map_bytes[i] > end)
            end = (char *)in->map[i] + in->map_bytes[i];
    mprotect(in->shared->base, (size_t)(end - in->shared->base), PROT_NONE);
    for (int i = 0; i <= NL_ARGS; i++)
        if (in->map[i])
            mprotect((char *)in->map[i] + page, in->map_bytes[i] - 2 * page,
                     writable[i] ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* Makes the inputs writable for pair_stale(), or read-only again. */
static void allow(const instance *in, bool write) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; in->shared && i < NL_ARGS; i++)
        if (in->map[i] && !here->writable[i])
            mprotect((char *)in->map[i] + page, in->map_bytes[i] - 2 * page,
                     write ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* Are there more than `most` threads, even after a moment in which some may end? */
static bool too_many_threads(int most) {
    for (int i = 0; i < 100 && worker_threads(0) > most; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return worker_threads(0) > most;
}

/* Was the padding written? It fills the last cache line of scratch up to the guard page. */
static bool scratch_overrun(const instance *in) {
    const char *scratch = in->scratch;
    for (size_t i = in->scratch_bytes; scratch && i % 64; i++)
        if (scratch[i] != (char)in->scratch_byte) return true;
    return false;
}

/* Fills the stack and malloc()'s memory, which a kernel must set itself: with NaN in the first call
 * of a case, and with numbers in the second, since a fallback for NaN may hide a mistake. */
static __attribute__((noinline)) void dirty(int byte) {
    volatile char room[1 << 16];
    memset((char *)room, byte, sizeof room);
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0x100 | (byte ^ 0xff));
#endif
}

/* A copy in this process's memory: otherwise a kernel that kept a pointer to its problem could
 * overwrite what the parent reads. */
static const instance *own_copy(const call_record *s) {
    static instance in;
    static nl_case c;
    in = s->in, c = s->c;
    in.c = &c;
    return &in;
}

/* OpenMP may grant a smaller team than a kernel requests: one thread inside a parallel region, and
 * never more than OpenMP's thread limit. */
static nl_status call_kernel(const call_record *s) {
    nl_status status = NL_OK;
    if (!s->c.team || !s->impl.threaded) return instance_call(own_copy(s), s->threads);
#ifdef _OPENMP
    if (s->c.team > 1) {
        const int team = s->c.team;
        nl_team(s->threads); /* caches the number of threads before it is limited */
#pragma omp teams num_teams(1) thread_limit(team)
        status = instance_call(own_copy(s), s->threads);
        return status;
    }
    omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
#pragma omp master
#endif
    status = instance_call(own_copy(s), s->threads);
    return status;
}

void (*worker_attach)(nl_impl *impl);

/* Bytes that malloc() has given out; 0: unknown. */
static size_t allocated(void) {
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
#else
    return 0;
#endif
}

/* The bytes that GCC's OpenMP runtime loses with each team of one thread. */
enum { TEAM_LOSES = 112 };

/* malloc() keeps up to 7 freed blocks of each of 64 sizes, KEPT bytes in all, and counts them as
 * used. So memory may grow in up to SIZES calls, as with PyTorch on short rows, without a leak. */
enum { SIZES = 64, KEPT = SIZES * 7 * 1032, CALLS = 12 };

/* One call may allocate memory for later calls. But several calls in a row on one problem must not
 * each allocate more. */
static bool leaks(const call_record *s, size_t before) {
    const size_t first = before;
    bool grows = s->again && s->status == NL_OK;
    for (int i = 0; grows && i < (before - first > KEPT ? CALLS : SIZES); i++) {
        const size_t now = allocated();
        grows = now > before && !(s->impl.threaded && (now - before) % TEAM_LOSES == 0);
        before = now;
        if (grows) call_kernel(s);
    }
    return grows;
}

static void call(call_record *s) {
    const pid_t self = getpid();
    const int team = s->impl.threaded ? s->threads : 1, before = worker_threads(0);
    s->stack = stack;
    protect(&s->in, s->writable);
    if (memcmp(&s->tuning, nl_tuning_now(), sizeof s->tuning) != 0) nl_tuning_use(&s->tuning);
    s->state = CALL_RUNS;
    if (worker_attach) worker_attach(&s->impl);
    s->constants = constants_guard(&s->impl);
    const pair_call made = {&s->in, s->writable, s->bytes, s->threads};
    if (s->stale) pair_stale(&made, allow);
    dirty(s->in.scratch_byte ? 0xff : 0x4b);
    const size_t memory = allocated();
    s->status = call_kernel(s);
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0);
#endif
    fflush(NULL);
    if (getpid() != self) _exit(0); /* a kernel that has forked returns twice */
    s->left_threads = too_many_threads(before + team - 1);
    strcpy(s->left, surroundings_changed(&s->in, s->own));
    if (leaks(s, memory) && !*s->left)
        strcpy(s->left, "allocates memory in each call, and does not free it");
    if (s->repeats && s->status == NL_OK) pair_repeat(&made);
    if (scratch_overrun(&s->in))
        strcpy(s->left, "wrote past its scratch, within the last cache line");
    if (s->pairs && s->status == NL_OK && !*s->left && !pair_agrees(&made))
        strcpy(s->left,
               "gives other numbers while another thread calls it too: is a buffer static?");
    if (s->batches && s->status == NL_OK && !*s->left)
        batch_compare(&made, s->batch, sizeof s->batch);
    s->forked = waitpid(-1, NULL, WNOHANG) >= 0;
    if (s->status != NL_OK) strcpy(s->message, nl_message());
    s->state = CALL_RETURNED;
}

static void run_scratch(call_record *s) {
    s->state = CALL_RUNS;
    if (worker_attach) worker_attach(&s->impl);
    s->scratch_bytes = nl_scratch_bytes(&s->impl, &own_copy(s)->c->problem);
    s->state = CALL_RETURNED;
}

bool worker_read(int line, unsigned char *byte, bool spins) {
    enum { MOMENT_NS = 200000 };
    const double until = clock_ns() + (spins ? MOMENT_NS : 0);
    ssize_t got;
    do got = recv(line, byte, 1, spins ? MSG_DONTWAIT : 0);
    while (got < 0 && clock_ns() < until);
    return got == 1 || (got < 0 && spins && recv(line, byte, 1, 0) == 1);
}

static void read_bytes(void *context, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i += 64) (void)*((volatile const char *)context + i);
}

/* In each turn, the parent sends flags, and the child answers "ready". The parent sends "go", and
 * the child makes the call, nothing else, and answers "done" or "failed". */
static void take_turns(call_record *s, int line) {
    const bool warms = s->impl.threaded; /* if the kernel uses threads, wake and warm them too */
    unsigned char turn, go;
    s->stack = stack;
    protect(&s->in, s->writable);
    s->state = CALL_RUNS;
    if (worker_attach) worker_attach(&s->impl);
    s->constants = constants_guard(&s->impl); /* as in verification */
    const instance *in = own_copy(s);
    while (read(line, &turn, 1) == 1) {
        for (int i = 0; i < NL_ARGS && turn & TURN_WARM; i++)
            if (s->in.at[i])
                nl_parallel_for(s->bytes[i], warms ? s->threads : 1, read_bytes, s->in.at[i]);
        if (write(line, "r", 1) != 1 || !worker_read(line, &go, turn & TURN_SPINS)) break;
        const bool right = !(turn & TURN_CALLS) || instance_call(in, s->threads) == NL_OK;
        if (write(line, right ? "d" : "f", 1) != 1) break;
    }
    worker_leave(0);
}

static void *serve(void *context) {
    const int *line = context;
    watch_crashes();
    surroundings_note();
    for (char byte; read(*line, &byte, 1) == 1;) {
        if (here->request == REQUEST_TURNS) take_turns(here, *line);
        here->request == REQUEST_SCRATCH ? run_scratch(here) : call(here);
        if (write(*line, &byte, 1) != 1) break;
    }
    worker_leave(0);
}

static void limit(int what, rlim_t most) {
    struct rlimit now;
    if (getrlimit(what, &now) != 0 || now.rlim_cur <= most) return;
    now.rlim_cur = most;
    setrlimit(what, &now);
}

/* Bytes of private memory that this process has mapped so far. */
static size_t memory_now(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*u %*u %*u %*u %*u %zu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

void worker_sandbox(void) {
    if (memory_now() < SANITIZERS_MAP && !__gcov_dump)
        sandbox_enter(SANDBOX_KERNEL); /* not with a sanitizer, which must write its findings */
}

static void limit_all(void) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, OUTPUT_MOST);
    const size_t now = memory_now();
    if (now < SANITIZERS_MAP) limit(RLIMIT_DATA, now + MEMORY_MOST);
    worker_sandbox();
}

/* Closes the parent's other files. */
static void close_others(int line) {
    const int most = (int)sysconf(_SC_OPEN_MAX) < 1024 ? (int)sysconf(_SC_OPEN_MAX) : 1024;
    for (int fd = 3; fd < most; fd++)
        if (fd != line) close(fd);
}

/* The kernel runs in a new thread, so that it can use OpenMP after a fork, and its stack has a
 * known size. */
_Noreturn void worker_serve(call_record *s, int line, const int output[2]) {
    here = s;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    setpgid(0, 0);
    dup2(output[0], 1);
    dup2(output[1], 2);
    close_others(line);
    atexit(on_exit_called);
    limit_all();
    stack = mmap(NULL, 2 * STACK_GUARD + STACK_BYTES, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_attr_t with_stack;
    pthread_t thread;
    if (stack == MAP_FAILED) _exit(2);
    stack += STACK_GUARD;
    if (mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE) == 0 &&
        pthread_attr_init(&with_stack) == 0 &&
        pthread_attr_setstack(&with_stack, stack, STACK_BYTES) == 0 &&
        pthread_create(&thread, &with_stack, serve, &line) == 0)
        s->ended_thread = pthread_join(thread, NULL) == 0;
    worker_leave(2);
}

void *worker_share(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void worker_fill(call_record *s, const instance *in, int threads) {
    *s = (call_record){.c = *in->c, .impl = *in->impl, .in = *in, .threads = threads};
    s->tuning = *nl_tuning_now();
    const bool second = in->unset == UNSET_NUMBERS; /* the second of a case's two calls */
    s->pairs = second && pair_wanted(in);
    s->repeats = second && pair_repeat_wanted(in, threads);
    s->again = second && pair_again_wanted(in);
    s->own = nl_is_own(in->impl);
    s->stale = second && pair_stale_wanted(in);
    s->batches = second && batch_shows(in->c);
    s->in.c = &s->c, s->in.impl = &s->impl;
    for (nl_arg i = 0; i < NL_ARGS; i++) {
        s->writable[i] = !in->data->input[i] || instance_consumes(in, i);
        s->bytes[i] = in->data->bytes[i];
    }
    s->writable[NL_ARGS] = true;
}

int worker_start(call_record *s, const int output[2], int *line) {
    int both[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0) return 0;
    fflush(NULL); /* otherwise the child would also write the buffered text */
    const pid_t pid = fork();
    if (pid == 0) {
        close(both[0]);
        worker_serve(s, both[1], output);
    }
    close(both[1]);
    *line = both[0];
    if (pid > 0) return setpgid(pid, pid), pid;
    return close(both[0]), 0;
}

int worker_stop(int *pid, int line, bool now) {
    int status = 0;
    if (!*pid) return 0;
    if (now) kill(*pid, SIGKILL);
    close(line);
    waitpid(*pid, &status, 0);
    kill(-*pid, SIGKILL);
    *pid = 0;
    return status;
}

int worker_threads(int pid) {
    enum { LINKS = 2, WAITS = 1 };   /* links of an empty directory; the thread that only waits */
    static int folder = -1, of = -1; /* kept open: looking the path up takes longer than the rest */
    struct stat tasks;
    if (of != pid || fstat(folder, &tasks) != 0) {
        char path[60];
        snprintf(path, sizeof path, pid ? "/proc/%d/task" : "/proc/self/task", pid);
        if (pid && of != pid && folder >= 0) close(folder); /* pid 0: it was the parent's */
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), of = pid;
        if (fstat(folder, &tasks) != 0) return 0;
    }
    return tasks.st_nlink > LINKS ? (int)tasks.st_nlink - LINKS - WAITS : 0;
}
