/* Memory: page sizes, how much is free, where it is. SPDX-License-Identifier: MIT */
#include "machine/parts.h"
#include "machine/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Page faults that touching 4 MiB took when huge pages were asked for, as for our buffers: two with
 * pages of 2 MiB, 1024 with those of 4 KiB. Negative: this system has none. */
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
    char text[DOCTOR_TEXT];
    if (!doctor_read(text, "%s", path)) {
        doctor_unreadable(e, "huge-pages", path);
        return;
    }
    char *policy = strchr(text, '[');
    policy = policy ? policy + 1 : text;
    policy[strcspn(policy, "]")] = '\0';
    long faults = huge_page_faults();
    bool given = faults >= 0 && faults <= 64, never = strcmp(policy, "never") == 0;
    doctor_say(
        e, "huge-pages", given ? DOCTOR_GOOD : DOCTOR_NOTE,
        given   ? NULL
        : never ? "Large buffers are slower: echo madvise | sudo tee "
                  "/sys/kernel/mm/transparent_hugepage/enabled"
                : "Asked for and not given, as when memory is in small pieces: echo 1 | sudo tee "
                  "/proc/sys/vm/compact_memory",
        "%.16s; 4 MiB that asked for them took %ld page faults", policy, faults);
}

static void page_size(exam *e) {
    doctor_say(e, "page-size", DOCTOR_GOOD, NULL, "%ld bytes", sysconf(_SC_PAGESIZE));
}

static void memory(exam *e) {
    double total, available, group = e->before.group.bytes;
    char limit[64] = "";
    if (!doctor_number("/proc/meminfo", "MemTotal", &total) ||
        !doctor_number("/proc/meminfo", "MemAvailable", &available)) {
        doctor_unreadable(e, "memory", "/proc/meminfo");
        return;
    }
    total /= 0x1p20, available /= 0x1p20, group /= 0x1p30; /* GiB */
    if (group < total) snprintf(limit, sizeof limit, "; our control group may use %.1f GiB", group);
    double usable = fmin(available, group);
    doctor_say(e, "memory",
               usable < 1   ? DOCTOR_BAD
               : usable < 8 ? DOCTOR_NOTE
                            : DOCTOR_GOOD,
               usable < 8 ? "The largest cases take several GiB: free some, or measure with --quick"
                          : NULL,
               "%.1f of %.1f GiB available%s", available, total, limit);
}

static void swap(exam *e) {
    double total, left;
    if (!doctor_number("/proc/meminfo", "SwapTotal", &total) ||
        !doctor_number("/proc/meminfo", "SwapFree", &left)) {
        doctor_unreadable(e, "swap", "/proc/meminfo");
        return;
    }
    if (total == 0) {
        doctor_say(e, "swap", DOCTOR_GOOD, NULL, "none");
        return;
    }
    double used = total - left, pages = e->after.swapped - e->before.swapped;
    char moved[48] = "activity unknown";
    if (e->after.vmstat) snprintf(moved, sizeof moved, "%.0f pages moved just now", pages);
    bool tenth = used > 0.1 * total;
    doctor_say(e, "swap",
               pages > 0 ? DOCTOR_BAD
               : tenth   ? DOCTOR_NOTE
                         : DOCTOR_GOOD,
               pages > 0 || tenth ? "Free memory, then bring pages back: sudo swapoff -a && sudo "
                                    "swapon -a"
                                  : NULL,
               "%.1f of %.1f GiB used; %s", used / 0x1p20, total / 0x1p20, moved);
}

static void numa(exam *e) {
    char text[DOCTOR_TEXT], list[64];
    bool node[DOCTOR_CPUS], cpu[DOCTOR_CPUS], ours[DOCTOR_CPUS] = {false};
    double balancing = 0;
    int mine = 0;
    if (!doctor_read(text, "/sys/devices/system/node/online")) {
        doctor_unreadable(e, "numa", "/sys/devices/system/node/online");
        return;
    }
    int nodes = doctor_parse_list(text, node);
    for (int n = 0; n < DOCTOR_CPUS; n++) {
        if (!node[n] || !doctor_read(text, "/sys/devices/system/node/node%d/cpulist", n)) continue;
        doctor_parse_list(text, cpu);
        for (int i = 0; i < DOCTOR_CPUS && !ours[n]; i++) ours[n] = cpu[i] && e->cpu[i];
        mine += ours[n];
    }
    if (nodes == 1) {
        doctor_say(e, "numa", DOCTOR_GOOD, NULL, "1 node");
        return;
    }
    doctor_number("/proc/sys/kernel/numa_balancing", "", &balancing);
    int first = 0;
    while (first < DOCTOR_CPUS - 1 && !ours[first]) first++;
    finding *f =
        doctor_say(e, "numa", DOCTOR_NOTE, NULL, "%d nodes, our CPUs on %s; automatic balancing %s",
                   nodes, mine ? doctor_list_text(ours, list, sizeof list) : "none of them",
                   balancing > 0 ? "on: it moves pages while we measure" : "off");
    snprintf(f->advice, sizeof f->advice,
             "Far memory is slower: numactl --cpunodebind=%d --membind=%d normlab ...%s", first,
             first, balancing > 0 ? "; echo 0 | sudo tee /proc/sys/kernel/numa_balancing" : "");
}

void doctor_memory(exam *e) {
    huge_pages(e);
    page_size(e);
    memory(e);
    swap(e);
    numa(e);
}
