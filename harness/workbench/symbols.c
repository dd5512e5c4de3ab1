/* SPDX-License-Identifier: MIT */
#include "workbench/fence.h"

#include <stdio.h>

#ifdef __linux__

#include <dlfcn.h>
#include <elf.h>
#include <fnmatch.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Symbols that compilers add, symbols that headers of kernels use, and printing, which the
 * verification reports. Shell patterns. */
static const char *const allowed[] =
    {"memcpy", "memmove", "memset", "memcmp", "__memcpy_chk", "__memset_chk", "__memmove_chk",
     "printf", "puts", "putchar", "fprintf", "fputs", "fputc", "fwrite", "fflush", "__printf_chk",
     "__fprintf_chk", "stdout", "stderr", "abort", "__assert_fail", "__stack_chk_fail",
     "__errno_location", "nl_layers", "nl_parallel_for", "__cxa_finalize", "__gmon_start__",
     "__tls_get_addr", "_ITM_*", "__asan_*", "__ubsan_*", "__tsan_*", "__sanitizer_*", "__gcov_*",
     /* functions of OpenMP that leave no threads and no settings behind */
     "omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads", "omp_get_num_procs",
     "omp_in_parallel", "GOMP_parallel*", "GOMP_loop_*", "GOMP_sections_*", "GOMP_single_*",
     "GOMP_critical_*", "GOMP_atomic_*", "GOMP_ordered_*", "GOMP_barrier", "__kmpc_fork_call",
     "__kmpc_push_num_threads", "__kmpc_for_static_*", "__kmpc_dispatch_*", "__kmpc_barrier",
     "__kmpc_*reduce*", "__kmpc_*critical", "__kmpc_*single", "__kmpc_*masked", "__kmpc_*master",
     "__kmpc_*serialized_parallel", "__kmpc_*ordered", "__kmpc_atomic_*", "__kmpc_flush",
     "__kmpc_global_thread_num"};

static const char *const libraries[] = {"libm.so", "libm-", "libmvec"};

static bool listed(const char *name) {
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (fnmatch(allowed[i], name, 0) == 0) return true;
    }
    return false;
}

/* Is the symbol in a mathematics library of this program? */
static bool in_a_library(const char *name) {
    Dl_info where;
    void *at = dlsym(RTLD_DEFAULT, name);
    if (!at || !dladdr(at, &where) || !where.dli_fname) return false;
    const char *slash = strrchr(where.dli_fname, '/');
    const char *file = slash ? slash + 1 : where.dli_fname;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(file, libraries[i], strlen(libraries[i])) == 0) return true;
    return false;
}

/* Is there a version in float, such as fmaf() for fma() and fmal()? */
static bool is_double(const char *name) {
    char sister[64];
    const size_t n = strlen(name);
    if (n == 0 || n + 2 > sizeof sister) return false;
    if (strstr(name, "f128") || strstr(name, "f64") || strstr(name, "f32x")) return true;
    snprintf(sister, sizeof sister, "%sf", name);
    if (in_a_library(sister)) return true;
    sister[n] = '\0', sister[n - 1] = 'f';
    return name[n - 1] == 'l' && in_a_library(sister);
}

static bool may_call(const char *name) {
    return listed(name) || in_a_library(name);
}

static bool is_float(const char *name) {
    return !in_a_library(name) || !is_double(name);
}

typedef struct image {
    const char *bytes;
    size_t size;
} image;

/* `count` items of `each` bytes at an offset of the file; NULL: the file is too short. */
static const void *at(image f, size_t offset, size_t count, size_t each) {
    if (offset > f.size || (each && count > (f.size - offset) / each)) return NULL;
    return f.bytes + offset;
}

/* The first undefined symbol that right() rejects; "": none; NULL: not a 64-bit ELF file. */
static const char *first_refused(image f, bool (*right)(const char *name)) {
    const ElfW(Ehdr) *head = at(f, 0, 1, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return NULL;
    const ElfW(Shdr) *all = at(f, head->e_shoff, head->e_shnum, sizeof *all);
    for (size_t i = 0; all && i < head->e_shnum; i++) {
        if (all[i].sh_type != SHT_DYNSYM || all[i].sh_link >= head->e_shnum) continue;
        const ElfW(Shdr) *names = &all[all[i].sh_link];
        const size_t count = all[i].sh_size / sizeof(ElfW(Sym));
        const ElfW(Sym) *symbols = at(f, all[i].sh_offset, count, sizeof *symbols);
        const char *text = at(f, names->sh_offset, names->sh_size, 1);
        if (!symbols || !text || !names->sh_size || text[names->sh_size - 1]) return NULL;
        for (size_t k = 1; k < count; k++) {
            if (symbols[k].st_shndx != SHN_UNDEF) continue;
            if (symbols[k].st_name >= names->sh_size) return NULL;
            const char *name = text + symbols[k].st_name;
            if (*name && !right(name)) return name;
        }
        return "";
    }
    return NULL;
}

static const char *reason(const char *name) {
    if (strncmp(name, "nl_", 3) == 0)
        return "the library's own functions would do the kernel's work";
    if (strncmp(name, "pthread_", 8) == 0)
        return "only nl_parallel_for() and OpenMP may start threads, which end with the call";
    if (strstr(name, "alloc") || strcmp(name, "free") == 0)
        return "a kernel must not allocate: .scratch requests working memory";
    return "it may call math functions, memcpy() and the like, nl_parallel_for() and OpenMP";
}

bool symbols_allowed(const char *library, bool no_double, char *why, size_t size) {
    enum { MOST = 64 << 20 };
    FILE *f = fopen(library, "rb");
    char *bytes = f ? malloc(MOST) : NULL;
    const image whole = {bytes, bytes ? fread(bytes, 1, MOST, f) : 0};
    const char *name = bytes ? first_refused(whole, may_call) : NULL;
    const char *wide = name && !*name && no_double ? first_refused(whole, is_float) : "";
    const bool ok = name && !*name && wide && !*wide;
    if (!name)
        snprintf(why, size, "has no readable symbol table: is it a shared library?");
    else if (*name)
        snprintf(why, size, "it calls %.100s, which a graded kernel must not: %s", name,
                 reason(name));
    else if (!ok)
        snprintf(why, size,
                 "the assignment forbids 'double', and the kernel calls %.100s, which computes in "
                 "double",
                 wide);
    free(bytes);
    if (f) fclose(f);
    return ok;
}

#else

bool symbols_allowed(const char *library, bool no_double, char *why, size_t size) {
    (void)library, (void)no_double, (void)why, (void)size;
    return true;
}

#endif
