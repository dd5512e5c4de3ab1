/* SPDX-License-Identifier: MIT */
#include "workbench/load.h"
#include "base/csv.h"
#include "platform/platform.h"
#include "isa.h"
#include "layer.h"
#include "normlab_kernel.h"
#include "registry.h"
#include "verify/isolate.h"
#include "verify/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, EACH = 16, THRESHOLDS = 64 };

#define FAST_MATH                                                                         \
    "changes floating-point arithmetic when it is loaded. Linking with -ffast-math does " \
    "this: link without it"

static struct library {
    const char *origin;
    uint32_t crc;
    const nl_impl *kernels[EACH + 1];
    nl_impl copies[EACH]; /* kernels point to these checked copies, which cannot change */
} libraries[MOST];
static size_t count;

static bool refuse(char *error, size_t size, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(error, size, format, rest);
    va_end(rest);
    return false;
}

const char *load_file(size_t i) {
    return i < count ? libraries[i].origin : NULL;
}

const char *load_checksum(void) {
    static char text[9];
    uint32_t sum = 0; /* does not depend on the order */
    for (size_t i = 0; i < count; i++)
        if (!nl_is_peer(libraries[i].kernels[0]->name)) sum += libraries[i].crc;
    return sum ? snprintf(text, sizeof text, "%08x", (unsigned)sum), text : NULL;
}

const char *load_origin(const char *impl, const char *isa) {
    for (size_t i = 0; i < count; i++)
        for (const nl_impl *const *k = libraries[i].kernels; *k; k++)
            if (strcmp((*k)->name, impl) == 0 && strcmp((*k)->isa, isa) == 0)
                return libraries[i].origin;
    return NULL;
}

/* A short "FOLDER/NAME" of characters that need no quotes in patterns, CSV and shells. */
static bool good_name(const char *name) {
    const char *slash = strchr(name, '/');
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/_.+-");
    return slash && slash > name && slash[1] && !strchr(slash + 1, '/') && !name[plain] &&
           plain <= LOAD_NAME;
}

static bool good_about(const char *about) {
    size_t n = 0;
    while (n <= LOAD_ABOUT && about[n] && about[n] != '"' && (unsigned char)about[n] >= ' ') n++;
    return n <= LOAD_ABOUT && !about[n];
}

static bool good_thresholds(const nl_threshold *t) {
    for (size_t i = 0; t && t[i].size; i++)
        if (i == THRESHOLDS || (unsigned)t[i].axis > NL_OF_ELEMENTS) return false;
    return true;
}

/* The passes that at least one of the layers has. */
static unsigned passes_of(unsigned ops) {
    unsigned passes = NL_BIT(NL_FORWARD) | NL_BIT(NL_BACKWARD);
    for (int op = 0; op < NL_OPS; op++)
        if (ops & NL_BIT(op) && nl_layers[op].running) passes |= NL_BIT(NL_INFERENCE);
    return passes;
}

bool load_accepts(const nl_impl *m, char *why, size_t size) {
    const unsigned forward = NL_BIT(NL_FORWARD) | NL_BIT(NL_INFERENCE);
    if (!m->name)
        return refuse(why, size, "a kernel has no name: does its file end with NL_IMPL(...)?");
    if (!good_name(m->name))
        return refuse(why, size,
                      "the name '%.60s' should be FOLDER/NAME, as rmsnorm/mine: letters, digits "
                      "and _ . + -, at most %d characters",
                      m->name, LOAD_NAME);
    if (nl_is_peer(m->name))
        return refuse(why, size, "%s: peer/ is for the peers of docs/peers.md", m->name);
    if (!m->isa || nl_isa_index(m->isa) < 0)
        return refuse(why, size,
                      "%s: isa is '%.20s', no instruction set of this processor's "
                      "family; plain C is \"c\"",
                      m->name, m->isa ? m->isa : "NULL");
    if (!nl_isa_runs(m->isa))
        return refuse(why, size, "%s needs %s, which this processor or NL_ISA does not allow",
                      m->name, m->isa);
    if (!m->about || !good_about(m->about))
        return refuse(why, size,
                      "%s: about should describe it in one line of at most %d characters, without "
                      "quotes or control characters",
                      m->name, LOAD_ABOUT);
    if (!m->ops || m->ops >> NL_OPS)
        return refuse(why, size, "%s: ops is %#x, not in the range [1, %#x)", m->name, m->ops,
                      NL_BIT(NL_OPS));
    if (!m->dtypes || m->dtypes >> NL_DTYPES)
        return refuse(why, size, "%s: dtypes is %#x, not in the range [1, %#x)", m->name, m->dtypes,
                      NL_BIT(NL_DTYPES));
    if (!m->passes || m->passes & ~passes_of(m->ops))
        return refuse(why, size, "%s: passes is %#x, but its layers have the passes %#x", m->name,
                      m->passes, passes_of(m->ops));
    if (m->passes & forward && !m->forward)
        return refuse(why, size, "%s: passes has forward or inference, but .forward is NULL",
                      m->name);
    if (m->passes & NL_BIT(NL_BACKWARD) && !m->backward)
        return refuse(why, size, "%s: passes has backward, but .backward is NULL", m->name);
    if ((unsigned)m->method > NL_REFINED)
        return refuse(why, size, "%s: method is %d, not one of nl_method", m->name, (int)m->method);
    if (m->lanes < 1)
        return refuse(why, size, "%s: lanes is %d; a sum has at least one accumulator", m->name,
                      m->lanes);
    if (!good_thresholds(m->thresholds))
        return refuse(why, size,
                      "%s: thresholds should end with a size of 0, after at most %d valid ones",
                      m->name, THRESHOLDS);
    return true;
}

static bool taken(const nl_impl *m, const nl_impl *const *before, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(before[i]->name, m->name) == 0 && strcmp(before[i]->isa, m->isa) == 0)
            return true;
    return nl_find(m->name, m->isa) != NULL;
}

/* Collects the kernels of an open library, and adds all of them or none. */
static bool add_all(void *library, struct library *out, char *error, size_t size) {
    int (*abi)(void) = dlsym(library, "normlab_kernel_abi");
    const nl_impl *(*kernel)(size_t) = dlsym(library, "normlab_kernel");
    size_t n = 0;
    if (!abi || !kernel)
        return refuse(error, size,
                      "has no %s: a kernel library exports the functions of normlab_kernel.h",
                      abi ? "normlab_kernel" : "normlab_kernel_abi");
    if (abi() != NL_KERNEL_ABI)
        return refuse(error, size,
                      "was compiled for version %d of the kernel interface, and this normlab has "
                      "%d: compile it again, with this normlab's headers",
                      abi(), NL_KERNEL_ABI);
    for (const nl_impl *m; (m = kernel(n)); n++) {
        if (n == EACH) return refuse(error, size, "has over %d kernels, or an endless list", EACH);
        m = memcpy(&out->copies[n], m, sizeof *m);
        if (!load_accepts(m, error, size)) return false;
        if (taken(m, out->kernels, n)) {
            const char *from = load_origin(m->name, m->isa);
            return refuse(error, size, "%s@%s already exists%s%s: choose another name", m->name,
                          m->isa, from ? ", from " : "", from ? from : "");
        }
        out->kernels[n] = m;
    }
    if (n == 0) return refuse(error, size, "has no kernel: normlab_kernel(0) is NULL");
    for (size_t i = 0; i < n; i++)
        if (!nl_registry_add(out->kernels[i]))
            return refuse(error, size, "the table of implementations is full");
    return true;
}

/* Calls each kernel's .scratch as calls of the kernel do, also with n = 0. */
static void ask_scratch(const struct library *l) {
    for (const nl_impl *const *k = l->kernels; *k; k++)
        for (int op = 0; op < NL_OPS; op++)
            for (int pass = 0; pass < 2 * NL_PASSES; pass++) {
                const nl_problem p = {.op = (nl_op)op,
                                      .pass = (nl_pass)(pass / 2),
                                      .n = pass % 2 ? 3 : 0,
                                      .c = 7,
                                      .s = 1};
                if ((*k)->ops & NL_BIT(op) && (*k)->passes & NL_BIT(p.pass))
                    nl_scratch_bytes(*k, &p);
            }
}

/* What a child process found in a library that this process does not load. */
typedef struct description {
    size_t count;
    nl_impl impl; /* the first kernel */
    char name[LOAD_NAME + 1], isa[20], about[LOAD_ABOUT + 1], error[600];
} description;

static void describe(const struct library *l, description *d) {
    const nl_impl *m = d ? l->kernels[0] : NULL;
    if (!m) return;
    while (l->kernels[d->count]) d->count++;
    d->impl = *m;
    snprintf(d->name, sizeof d->name, "%s", m->name);
    snprintf(d->isa, sizeof d->isa, "%s", m->isa);
    snprintf(d->about, sizeof d->about, "%s", m->about);
}

/* A library's constructors may end the process, so a child process loads the library first. If d is
 * not NULL, the library is not trusted. */
static bool rehearse(const char *path, description *d, char *error, size_t size) {
    enum { DONE = 42, SECONDS = 10 };
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        static struct library all;
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1), dup2(nowhere, 2);
        alarm(SECONDS);
        if (d) worker_sandbox();
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (d && !library) snprintf(d->error, sizeof d->error, "%s", dlerror());
        if (library && add_all(library, &all, d ? d->error : error, d ? sizeof d->error : size))
            ask_scratch(&all), describe(&all, d);
        if (d && !arithmetic_is_usual()) snprintf(d->error, sizeof d->error, FAST_MATH);
        worker_leave(DONE);
    }
    pid_t ended = 0; /* the parent counts time too: the child could stop its own alarm */
    for (int ms = 0; child > 0 && !ended; ms++) {
        ended = waitpid(child, &status, ms < 1000 * (SECONDS + 1) ? WNOHANG : 0);
        if (ended < 0 && errno != EINTR) return true;
        if (ended < 0) ended = 0;
        if (!ended && ms == 1000 * (SECONDS + 1) - 1) kill(child, SIGKILL);
        if (!ended) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == DONE)) return true;
    static const char *const where =
        "check its constructors, normlab_kernel_abi(), normlab_kernel() and .scratch";
    if (WIFEXITED(status))
        return refuse(error, size, "ended the process that loaded it, with exit code %d: %s",
                      WEXITSTATUS(status), where);
    return refuse(error, size, "ended the process that loaded it (%s): %s",
                  WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL
                      ? "not done after 10 seconds"
                      : strsignal(WTERMSIG(status)),
                  where);
}

/* The only kernel whose functions run in other processes. */
static struct distant {
    char path[4096];
    description said;
} distant;

static void forward_elsewhere(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)p, (void)a, (void)threads;
    abort(); /* this process is a worker that could not load the library */
}

static void backward_elsewhere(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)p, (void)a, (void)threads;
    abort();
}

static size_t scratch_elsewhere(const nl_problem *p) {
    return isolate_scratch(&distant.said.impl, p);
}

/* Runs in a worker: loads the library there, and gives its functions to the kernel. */
static void attach(nl_impl *m) {
    static const nl_impl *here;
    if (strcmp(m->name, distant.said.name) != 0 || strcmp(m->isa, distant.said.isa) != 0) return;
    void *library = here ? NULL : dlopen(distant.path, RTLD_NOW | RTLD_LOCAL);
    const nl_impl *(*kernel)(size_t) = library ? dlsym(library, "normlab_kernel") : NULL;
    if (kernel) here = kernel(0);
    if (here) m->forward = here->forward, m->backward = here->backward, m->scratch = here->scratch;
}

const nl_impl *load_distant(const char *path, char *error, size_t size) {
    description *d = worker_share(sizeof *d), *const said = &distant.said;
    nl_impl *m = &said->impl;
    if (!d) return refuse(error, size, "out of memory"), NULL;
    if (snprintf(distant.path, sizeof distant.path, "%s%s", strchr(path, '/') ? "" : "./", path) >=
        (int)sizeof distant.path)
        return refuse(error, size, "the path is too long"), NULL;
    const bool ended_well = rehearse(distant.path, d, error, size);
    memcpy(said, d, sizeof *d), munmap(d, sizeof *d); /* the child cannot change this copy */
    if (!ended_well) return NULL;
    said->name[LOAD_NAME] = said->isa[sizeof said->isa - 1] = said->about[LOAD_ABOUT] = '\0';
    said->error[sizeof said->error - 1] = '\0';
    if (*said->error) return refuse(error, size, "%s", said->error), NULL;
    if (said->count != 1) /* otherwise a second kernel could have a rung's name */
        return refuse(error, size, "it has %zu kernels, but only one is graded: keep one",
                      said->count),
               NULL;
    m->name = said->name, m->isa = said->isa, m->about = said->about, m->thresholds = NULL;
    m->forward = m->forward ? forward_elsewhere : NULL;
    m->backward = m->backward ? backward_elsewhere : NULL;
    m->scratch = m->scratch ? scratch_elsewhere : NULL;
    if (!load_accepts(m, error, size)) return NULL;
    worker_attach = attach;
    if (!nl_registry_add(m)) return refuse(error, size, "the table is full"), NULL;
    return m;
}

bool load_kernels(const char *path, const char *origin, char *error, size_t size) {
    char here[4096];
    if (count == MOST) return refuse(error, size, "at most %d libraries can be loaded", MOST);
    if (snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path) >=
        (int)sizeof here)
        return refuse(error, size, "the path is too long");
    void *library = dlopen(here, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library) return dlclose(library), refuse(error, size, "is loaded already");
    if (!rehearse(here, NULL, error, size)) return false;
    library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!library) return refuse(error, size, "%s", dlerror());
    if (!arithmetic_is_usual()) {
        arithmetic_restore();
        return dlclose(library), refuse(error, size, FAST_MATH);
    }
    struct library *next = &libraries[count];
    *next = (struct library){.origin = origin};
    if (!crc_file(&next->crc, here))
        return dlclose(library), refuse(error, size, "cannot be read again");
    if (!add_all(library, next, error, size)) return dlclose(library), false;
    return count++, true;
}
