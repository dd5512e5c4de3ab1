/* The CPUs that our threads may run on: their numbers, frequency settings and shared cores.
 * Interfaces: Documentation/admin-guide/pm and cputopology of the Linux kernel.
 * SPDX-License-Identifier: MIT */
#include "machine/exam.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define CPU_DIR "/sys/devices/system/cpu/cpu%d/"

/* Adds the CPUs the calling thread may run on. */
static void add_mask(exam *e) {
#ifdef __linux__
    cpu_set_t mask[CPUS_MAX / CPU_SETSIZE];
    memset(mask, 0, sizeof mask);
    if (sched_getaffinity(0, sizeof mask, mask) != 0) return;
    for (int i = 0; i < CPUS_MAX; i++)
        if (CPU_ISSET_S(i, sizeof mask, mask)) e->cpu[i] = e->mask_known = true;
#else
    (void)e;
#endif
}

/* Every thread adds its own mask, because threads can be bound to different CPUs. */
void cpus_begin(exam *e) {
#ifdef _OPENMP
#pragma omp parallel num_threads(e->threads)
#pragma omp critical
#endif
    add_mask(e);
    e->online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; !e->mask_known && i < e->online && i < CPUS_MAX; i++) e->cpu[i] = true;
    for (int i = 0; i < CPUS_MAX; i++) e->cpus += e->cpu[i];
}

static bool threads_bound(void) {
#if defined _OPENMP && _OPENMP >= 201307
    return omp_get_proc_bind() != omp_proc_bind_false;
#else
    return false;
#endif
}

static void affinity(exam *e) {
    char list[64];
    bool bound = threads_bound() || e->cpus == 1;
    if (!e->mask_known) {
        exam_add(e, "affinity", FINDING_UNKNOWN, NULL,
                 "this system has no sched_getaffinity; %d CPUs online", e->online);
        return;
    }
    finding_level level = e->threads > e->cpus ? FINDING_BAD : bound ? FINDING_GOOD : FINDING_NOTE;
    finding *f = exam_add(e, "affinity", level, NULL, "CPU %s: %d of %d online; %d thread%s, %s",
                          kernel_list_text(e->cpu, list, sizeof list), e->cpus, e->online,
                          e->threads, e->threads == 1 ? "" : "s", bound ? "bound" : "free to move");
    if (level == FINDING_BAD)
        snprintf(f->advice, sizeof f->advice,
                 "More threads than CPUs: OMP_NUM_THREADS=%d or --threads %d", e->cpus, e->cpus);
    else if (level == FINDING_NOTE)
        snprintf(f->advice, sizeof f->advice, "%staskset -c %d normlab ... --threads 1",
                 e->threads > 1 ? "OMP_PROC_BIND=close OMP_PLACES=cores normlab ... ; one thread: "
                                : "",
                 (int)((bool *)memchr(e->cpu, true, sizeof e->cpu) - e->cpu));
}

static void governor(exam *e) {
    char first[KERNEL_TEXT], other[KERNEL_TEXT], driver[KERNEL_TEXT];
    int same = 0;
    first[0] = '\0';
    for (int i = 0; i < CPUS_MAX; i++) {
        if (!e->cpu[i]) continue;
        if (!kernel_read(other, CPU_DIR "cpufreq/scaling_governor", i)) break;
        if (!first[0])
            strcpy(first, other), kernel_read(driver, CPU_DIR "cpufreq/scaling_driver", i);
        same += strcmp(first, other) == 0;
    }
    if (!first[0]) {
        exam_add(e, "governor", FINDING_UNKNOWN, NULL,
                 "no cpufreq in /sys: a virtual machine, or no driver for this processor");
        return;
    }
    /* With these drivers powersave follows the load; with others it is the lowest frequency. */
    bool range = strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "amd-pstate-epp") == 0;
    bool fixed = same == e->cpus && strcmp(first, "performance") == 0;
    bool slow = strcmp(first, "powersave") == 0 && !range;
    exam_add(e, "governor",
             fixed  ? FINDING_GOOD
             : slow ? FINDING_BAD
                    : FINDING_NOTE,
             "sudo cpupower frequency-set -g performance", "%.32s on %d of %d CPUs (driver %.32s)",
             first, same, e->cpus, driver);
}

static void turbo(exam *e) {
    static const struct {
        const char *path;
        double off;
    } switches[] = {{"/sys/devices/system/cpu/intel_pstate/no_turbo", 1},
                    {"/sys/devices/system/cpu/cpufreq/boost", 0}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        double value;
        if (!kernel_number(switches[i].path, "", &value)) continue;
        bool off = value == switches[i].off;
        finding *f = exam_add(e, "turbo", off ? FINDING_GOOD : FINDING_NOTE, NULL, "%s",
                              off ? "off" : "on: frequency depends on heat and on busy cores");
        if (!off)
            snprintf(f->advice, sizeof f->advice,
                     "For steady times rather than the shortest: echo %.0f | sudo tee %s",
                     switches[i].off, switches[i].path);
        return;
    }
    exam_add(e, "turbo", FINDING_UNKNOWN, NULL, "no turbo switch in /sys/devices/system/cpu");
}

static void core_kinds(exam *e) {
    char text[KERNEL_TEXT], list[192];
    double speed[CPUS_MAX] = {0}, least = 0, most = 0;
    bool fast[CPUS_MAX] = {false};
    int few = 0;
    for (int i = 0; i < CPUS_MAX; i++) {
        if (!e->cpu[i]) continue;
        if (!kernel_read(text, CPU_DIR "cpu_capacity", i) &&
            !kernel_read(text, CPU_DIR "cpufreq/cpuinfo_max_freq", i)) {
            exam_add(e, "core-kinds", FINDING_UNKNOWN, NULL,
                     "neither cpu_capacity nor cpuinfo_max_freq in /sys");
            return;
        }
        speed[i] = strtod(text, NULL);
        if (speed[i] > most) most = speed[i];
        if (least == 0 || speed[i] < least) least = speed[i];
    }
    for (int i = 0; i < CPUS_MAX; i++) few += fast[i] = e->cpu[i] && speed[i] * 1.2 > most;
    if (few == e->cpus) {
        exam_add(e, "core-kinds", FINDING_GOOD, NULL, "one kind of core");
        return;
    }
    finding *f = exam_add(e, "core-kinds", FINDING_NOTE, NULL,
                          "%d of %d CPUs are fast; the slowest has %.0f %% of their speed", few,
                          e->cpus, 100 * least / most);
    snprintf(f->advice, sizeof f->advice, "taskset -c %s normlab ... --threads %d",
             kernel_list_text(fast, list, sizeof list), few);
}

static void smt(exam *e) {
    char text[KERNEL_TEXT];
    bool sibling[CPUS_MAX];
    int cores = 0, shared = 0;
    for (int i = 0; i < CPUS_MAX; i++) {
        if (!e->cpu[i]) continue;
        if (!kernel_read(text, CPU_DIR "topology/thread_siblings_list", i)) {
            exam_add(e, "smt", FINDING_UNKNOWN, NULL, "no CPU topology in /sys");
            return;
        }
        shared += kernel_parse_list(text, sibling) > 1;
        int first = 0; /* the first sibling that we may use */
        while (first < i && !(sibling[first] && e->cpu[first])) first++;
        cores += first == i;
    }
    if (!shared) {
        exam_add(e, "smt", FINDING_GOOD, NULL, "none of our CPUs shares its core");
        return;
    }
    finding *f = exam_add(e, "smt", e->threads > cores ? FINDING_BAD : FINDING_NOTE, NULL,
                          "%d CPU%s, %d core%s; %d may be slowed down by a sibling", e->cpus,
                          e->cpus == 1 ? "" : "s", cores, cores == 1 ? "" : "s", shared);
    snprintf(f->advice, sizeof f->advice,
             "One thread per core: OMP_PROC_BIND=close OMP_PLACES=cores normlab ... --threads %d; "
             "or siblings off: echo off | sudo tee /sys/devices/system/cpu/smt/control",
             cores);
}

static void thermal(exam *e) {
    char path[128];
    double count, most = -1;
    for (int i = 0; i < CPUS_MAX; i++) {
        if (!e->cpu[i]) continue;
        snprintf(path, sizeof path, CPU_DIR "thermal_throttle/core_throttle_count", i);
        if (!kernel_number(path, "", &count)) break;
        if (count > most) most = count;
    }
    if (most < 0)
        exam_add(e, "thermal", FINDING_UNKNOWN, NULL, "no thermal_throttle counts in /sys");
    else
        exam_add(e, "thermal", most > 0 ? FINDING_NOTE : FINDING_GOOD,
                 "Cool the machine, and see whether the count grows",
                 "a core was slowed down by heat %.0f times since boot", most);
}

void examine_cpus(exam *e) {
    affinity(e);
    governor(e);
    turbo(e);
    core_kinds(e);
    smt(e);
    thermal(e);
}
