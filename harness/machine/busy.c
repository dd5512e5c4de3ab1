/* Finds other uses of our CPUs: other work, the hypervisor, the quota of our control group. Data:
 * the kernel's counters (proc(5)). SPDX-License-Identifier: MIT */
#include "machine/exam.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void load_begin(exam *e) {
    kernel_read(e->load, "/proc/loadavg");
}

static void count_cpu_time(const exam *e, counters *c) {
    char line[512];
    double t[8] = {0}; /* user nice system idle iowait irq softirq steal */
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    int cpu;
    FILE *f = fopen("/proc/stat", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &t[0], &t[1], &t[2], &t[3],
                   &t[4], &t[5], &t[6], &t[7]) != 9 ||
            cpu < 0 || cpu >= CPUS_MAX || !e->cpu[cpu])
            continue;
        c->stat = true;
        c->busy += tick * (t[0] + t[1] + t[2] + t[5] + t[6]);
        c->steal += tick * t[7];
        for (int i = 0; i < 8; i++) c->all += tick * t[i];
    }
    if (f) fclose(f);
}

void load_count(const exam *e, counters *c) {
    struct timespec own = {0};
    double in, out;
    *c = (counters){.ns = clock_ns(), .group = cgroup_limits()};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    c->own_seconds = (double)own.tv_sec + 1e-9 * (double)own.tv_nsec;
    count_cpu_time(e, c);
    c->vmstat = kernel_number("/proc/vmstat", "pswpin ", &in) &&
                kernel_number("/proc/vmstat", "pswpout ", &out);
    if (c->vmstat) c->swapped = in + out;
}

static void load(exam *e) {
    double one;
    int running, all;
    if (sscanf(e->load, "%lf %*f %*f %d/%d", &one, &running, &all) != 3) {
        exam_add(e, "load", FINDING_UNKNOWN, NULL, "/proc/loadavg cannot be read here");
        return;
    }
    finding_level level = one >= 0.5 * e->online                ? FINDING_BAD
                          : one >= 0.1 * e->cpus || running > 1 ? FINDING_NOTE
                                                                : FINDING_GOOD;
    exam_add(e, "load", level,
             "Stop or wait for the other work; to see it: ps -eo pcpu,pid,comm --sort=-pcpu | head",
             "%.2f on average over 1 min, for %d of %d CPUs; %d other task%s ready to run", one,
             e->cpus, e->online, running - 1, running == 2 ? "" : "s");
}

static void others(exam *e, double seconds) {
    if (!e->before.stat || !e->after.stat) {
        exam_add(e, "others", FINDING_UNKNOWN, NULL, "/proc/stat cannot be read here");
        return;
    }
    double own = e->after.own_seconds - e->before.own_seconds;
    double other = fmax(0, (e->after.busy - e->before.busy - own) / seconds);
    /* The kernel counts in ticks, so less than these limits may be rounding. */
    finding_level level = other > 0.5 * e->cpus               ? FINDING_BAD
                          : other > fmin(0.5, 0.15 * e->cpus) ? FINDING_NOTE
                                                              : FINDING_GOOD;
    exam_add(e, "others", level, "Stop the other work, or wait for it",
             "other work kept %.1f of %d CPUs busy, for %.2f s", other, e->cpus, seconds);
}

static void steal(exam *e, double seconds) {
    if (!e->before.stat || !e->after.stat) {
        exam_add(e, "steal", FINDING_UNKNOWN, NULL, "/proc/stat cannot be read here");
        return;
    }
    double stolen = e->after.steal - e->before.steal, share = stolen / seconds / e->cpus;
    double ever = e->after.all > 0 ? e->after.steal / e->after.all : 0;
    finding_level level = share > 0.05                ? FINDING_BAD
                          : stolen > 0 || ever > 0.01 ? FINDING_NOTE
                                                      : FINDING_GOOD;
    exam_add(e, "steal", level,
             "The host gives this machine's CPUs to others: repeat at another hour, or take "
             "dedicated CPUs",
             "%.0f ms taken by the hypervisor in %.2f s; %.2f %% since boot", 1e3 * stolen, seconds,
             100 * ever);
}

static void quota(exam *e) {
    const group_limits *g = &e->after.group;
    if (!g->known) {
        exam_add(e, "quota", FINDING_UNKNOWN, NULL, "our control group is not mounted");
        exam_add(e, "throttling", FINDING_UNKNOWN, NULL, "our control group is not mounted");
        return;
    }
    if (g->cpus == HUGE_VAL) {
        exam_add(e, "quota", FINDING_GOOD, NULL, "no quota on processor time");
    } else {
        bool tight = g->cpus < e->threads;
        finding *f = exam_add(e, "quota", tight ? FINDING_BAD : FINDING_NOTE, NULL,
                              "processor time of %.2f CPUs, for %d thread%s", g->cpus, e->threads,
                              e->threads == 1 ? "" : "s");
        snprintf(f->advice, sizeof f->advice,
                 "%s%.0f; better: assign whole CPUs, not a share of time (docker --cpuset-cpus)",
                 tight ? "More threads exhaust the quota, which stops all of them: --threads "
                       : "Keep to --threads ",
                 fmax(1, floor(g->cpus)));
    }
    double more = g->throttled - e->before.group.throttled;
    exam_add(e, "throttling",
             more > 0           ? FINDING_BAD
             : g->throttled > 0 ? FINDING_NOTE
                                : FINDING_GOOD,
             "The quota stops our threads: use fewer threads, or raise the quota",
             "%.0f times since the group was created, %.0f of them just now", g->throttled, more);
}

void examine_load(exam *e) {
    double seconds = 1e-9 * (e->after.ns - e->before.ns);
    load(e);
    others(e, seconds);
    steal(e, seconds);
    quota(e);
}
