/* Facts that the system does not provide are "unknown". SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "machine/machine.h"
#include "build_info.h"
#include "machine/doctor.h"
#include "machine/kernel_files.h"
#include "normlab.h"
#include "registry.h"

#include <ctype.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CACHE "/sys/devices/system/cpu/cpu0/cache/index%d/"

static void write_caches(FILE *out) {
    char level[KERNEL_TEXT], type[KERNEL_TEXT], size[KERNEL_TEXT], shared[KERNEL_TEXT];
    bool any = false;
    fprintf(out, "caches:");
    for (int i = 0; i < 16 && kernel_read(level, CACHE "level", i); i++) {
        if (!kernel_read(type, CACHE "type", i) || strcmp(type, "Instruction") == 0) continue;
        if (!kernel_read(size, CACHE "size", i)) continue;
        if (!kernel_read(shared, CACHE "shared_cpu_list", i)) strcpy(shared, "?");
        fprintf(out, "%s L%s %s (cpus %s)", any ? "," : "", level, size, shared);
        any = true;
    }
    fprintf(out, "%s\n", any ? "" : " unknown");
}

/* Measured at run time, because some emulators compute long double in double. */
static int long_double_bits(void) {
    volatile long double one = 1, half = 1;
    int bits = 0;
    for (; one + half != one; bits++) half /= 2;
    return bits;
}

const char *machine_kernels(void) {
    return NL_BUILD_KERNELS;
}

void machine_name(char *text, size_t size) {
    char model[256], family[16] = "", number[16] = "";
    if (!kernel_value("/proc/cpuinfo", "model name", model, sizeof model)) strcpy(model, "unknown");
    kernel_value("/proc/cpuinfo", "cpu family", family, sizeof family);
    kernel_value("/proc/cpuinfo", "model\t", number, sizeof number);
    snprintf(text, size, "%s%s%s%s%s", model, *family ? "-" : "", family, *number ? "-" : "",
             number);
    size_t kept = 0;
    for (const char *at = text; *at; at++) {
        const bool word = isalnum((unsigned char)*at);
        if (word || (kept && text[kept - 1] != '-')) text[kept++] = *at;
        if (!word && kept) text[kept - 1] = '-';
    }
    text[kept] = '\0';
}

/* Writes the number of threads, and the variables that decide how they wait and where they run. */
static void write_threads(FILE *out) {
    static const char *const variables[] = {"OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES",
                                            "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
    if (!nl_has_openmp()) {
        fprintf(out, "threads: built without OpenMP, 1\n");
        return;
    }
    fprintf(out, "threads: OpenMP, %d", nl_max_threads());
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value) fprintf(out, ", %s=", variables[i]);
        for (; value && *value; value++) fputc(*value >= ' ' && *value <= '~' ? *value : '?', out);
    }
    fputc('\n', out);
}

void machine_write(FILE *out) {
    char text[256], model[32], when[32];
    struct utsname system;
    time_t now = time(NULL);
    if (!kernel_value("/proc/cpuinfo", "model name", text, sizeof text)) strcpy(text, "unknown");
    fprintf(out, "cpu: %s\n", text);
    if (kernel_value("/proc/cpuinfo", "cpu family", text, sizeof text) &&
        kernel_value("/proc/cpuinfo", "model\t", model, sizeof model))
        fprintf(out, "family: %s, model %s\n", text, model); /* x86 only; often not in the name */
    fprintf(out, "cpus: %ld online\n", sysconf(_SC_NPROCESSORS_ONLN));
    write_caches(out);
    fprintf(out, "memory: %.1f GiB\n",
            (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30);
    if (!kernel_value("/etc/os-release", "PRETTY_NAME", text, sizeof text)) strcpy(text, "unknown");
    fprintf(out, "os: %s\n", text);
    if (uname(&system) == 0)
        fprintf(out, "kernel: %s %s %s\n", system.sysname, system.release, system.machine);
    fprintf(out, "compiler: %s\n", NL_BUILD_COMPILER);
    fprintf(out, "flags: %s\n", NL_BUILD_FLAGS);
    fprintf(out, "commit: %s\n", NL_BUILD_COMMIT);
    fprintf(out, "kernels: %s\n", NL_BUILD_KERNELS);
    fprintf(out, "version: %s\n", NL_VERSION);
    fprintf(out, "long double: %d bits of significand (LDBL_MANT_DIG is %d)\n", long_double_bits(),
            LDBL_MANT_DIG);
    write_threads(out);
    fprintf(out, "isa: %s\n", nl_isa_best());
    for (size_t i = 0; i < nl_impl_count(); i++)
        if (nl_is_peer(nl_impl_at(i)->name))
            fprintf(out, "peer %s: %s\n", nl_impl_at(i)->name + 5, nl_impl_at(i)->about);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(out, "date: %s\n", when);
    doctor_write(out);
}

bool machine_write_beside(const char *csv_path, bool quick, const char *loaded) {
    char path[CSV_PATH];
    FILE *f = csv_beside(csv_path, ".machine.txt", path) ? fopen(path, "w") : NULL;
    if (!f) return false;
    machine_write(f);
    fprintf(f, "quick: %s\n", quick ? "yes" : "no");
    if (loaded) fprintf(f, "loaded: %s\n", loaded);
    return fclose(f) == 0;
}
