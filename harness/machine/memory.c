/* Memory: page sizes, free memory, and NUMA nodes. SPDX-License-Identifier: MIT */
#include "machine/exam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Counts the page faults of touching 4 MiB after MADV_HUGEPAGE, which our buffers use: 2 with pages
 * of 2 MiB, 1024 with 4 KiB. Negative: this system has no huge pages. */
static long huge_page_faults(void) {
#ifdef MADV_HUGEPAGE
    const size_t touched = 4u << 20, aligned = 2u << 20, size = touched + aligned;
    struct rusage before, after;
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return -1;
    char *begin = map + (aligned - (size_t)map % aligned) % aligned;
    madvise(map, size, MADV_HUGEPAGE);
    getrusage(RUSAGE_SELF, &before);
    for (volatile char *p = begin; p < begin + touched; p += 4096) *p = 1;
    getrusage(RUSAGE_SELF, &after);
    munmap(map, size);
    return after.ru_minflt - before.ru_minflt;
#else
    return -1;
#endif
}

static void huge_pages(exam *e) {
    const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";
    char text[KERNEL_TEXT];
    if (!kernel_read(text, "%s", path)) {
        exam_unreadable(e, "huge-pages", path);
        return;
    }
    char *policy = strchr(text, '[');
    policy = policy ? policy + 1 : text;
    policy[strcspn(policy, "]")] = '\0';
    long faults = huge_page_faults();
    bool given = faults >= 0 && faults <= 64, never = strcmp(policy, "never") == 0;
    exam_add(e, "huge-pages", given ? FINDING_GOOD : FINDING_NOTE,
             never ? "Large buffers are slower without huge pages: echo madvise | sudo tee "
                     "/sys/kernel/mm/transparent_hugepage/enabled"
                   : "Huge pages were requested but not given, perhaps because memory is "
                     "fragmented: echo 1 | sudo tee /proc/sys/vm/compact_memory",
             "%.16s; 4 MiB with MADV_HUGEPAGE took %ld page faults", policy, faults);
}

static void page_size(exam *e) {
    exam_add(e, "page-size", FINDING_GOOD, NULL, "%ld bytes", sysconf(_SC_PAGESIZE));
}

static void memory(exam *e) {
    double total, available, group = e->before.group.bytes;
    char limit[64] = "";
    if (!kernel_number("/proc/meminfo", "MemTotal", &total) ||
        !kernel_number("/proc/meminfo", "MemAvailable", &available)) {
        exam_unreadable(e, "memory", "/proc/meminfo");
        return;
    }
    total /= 0x1p20, available /= 0x1p20, group /= 0x1p30; /* GiB */
    if (group < total) snprintf(limit, sizeof limit, "; our control group may use %.1f GiB", group);
    double usable = fmin(available, group);
    exam_add(e, "memory",
             usable < 1   ? FINDING_BAD
             : usable < 8 ? FINDING_NOTE
                          : FINDING_GOOD,
             "The largest cases take several GiB: free memory, or measure with --quick",
             "%.1f of %.1f GiB available%s", available, total, limit);
}

static void swap(exam *e) {
    double total, left;
    if (!kernel_number("/proc/meminfo", "SwapTotal", &total) ||
        !kernel_number("/proc/meminfo", "SwapFree", &left)) {
        exam_unreadable(e, "swap", "/proc/meminfo");
        return;
    }
    if (total == 0) {
        exam_add(e, "swap", FINDING_GOOD, NULL, "none");
        return;
    }
    double used = total - left, pages = e->after.swapped - e->before.swapped;
    char moved[48] = "activity unknown";
    if (e->after.vmstat) snprintf(moved, sizeof moved, "%.0f pages moved just now", pages);
    bool tenth = used > 0.1 * total;
    exam_add(e, "swap",
             pages > 0 ? FINDING_BAD
             : tenth   ? FINDING_NOTE
                       : FINDING_GOOD,
             "Free memory, then bring swapped pages back: sudo swapoff -a && sudo swapon -a",
             "%.1f of %.1f GiB used; %s", used / 0x1p20, total / 0x1p20, moved);
}

static void numa(exam *e) {
    char text[KERNEL_TEXT], list[64];
    bool node[CPUS_MAX], cpu[CPUS_MAX], ours[CPUS_MAX] = {false};
    double balancing = 0;
    int mine = 0;
    if (!kernel_read(text, "/sys/devices/system/node/online")) {
        exam_unreadable(e, "numa", "/sys/devices/system/node/online");
        return;
    }
    int nodes = kernel_parse_list(text, node);
    for (int n = 0; n < CPUS_MAX; n++) {
        if (!node[n] || !kernel_read(text, "/sys/devices/system/node/node%d/cpulist", n)) continue;
        kernel_parse_list(text, cpu);
        for (int i = 0; i < CPUS_MAX && !ours[n]; i++) ours[n] = cpu[i] && e->cpu[i];
        mine += ours[n];
    }
    if (nodes == 1) {
        exam_add(e, "numa", FINDING_GOOD, NULL, "1 node");
        return;
    }
    kernel_number("/proc/sys/kernel/numa_balancing", "", &balancing);
    int first = 0;
    while (first < CPUS_MAX - 1 && !ours[first]) first++;
    finding *f =
        exam_add(e, "numa", FINDING_NOTE, NULL, "%d nodes, our CPUs on %s; automatic balancing %s",
                 nodes, mine ? kernel_list_text(ours, list, sizeof list) : "none of them",
                 balancing > 0 ? "on: it moves pages while we measure" : "off");
    snprintf(f->advice, sizeof f->advice,
             "Far memory is slower: numactl --cpunodebind=%d --membind=%d normlab ...%s", first,
             first, balancing > 0 ? "; echo 0 | sudo tee /proc/sys/kernel/numa_balancing" : "");
}

void examine_memory(exam *e) {
    huge_pages(e);
    page_size(e);
    memory(e);
    swap(e);
    numa(e);
}
