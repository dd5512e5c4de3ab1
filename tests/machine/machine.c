/* Tests the doctor's findings on fake machines, which are only the texts of the kernel's files.
 * SPDX-License-Identifier: MIT */
#include "machine/exam.h"
#include "wrap.h"

#include <criterion/criterion.h>
#include <string.h>

#define CPU "/sys/devices/system/cpu/"
#define ANY_CPU CPU "cpu[0-3]/"
#define CLOCK "/sys/devices/system/clocksource/clocksource0/"
#define GROUP "/sys/fs/cgroup/"

typedef struct expected {
    const char *topic;
    finding_level level;
    const char *text; /* expected in the value or the advice */
} expected;

/* A machine where everything disturbs measurements. */
static const fake_file bad[] = {
    {"/proc/loadavg", "3.50 2.00 1.00 5/300 1\n"},
    {"/proc/stat", "cpu  9 9 9 9 9 9 9 9\ncpu0 500 0 0 100 0 0 0 50 0 0\n"},
    {"/proc/vmstat", "pswpin 100\npswpout 50\n"},
    {"/proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nSwapTotal: 2097152 kB\n"
                      "SwapFree: 1048576 kB\n"},
    {"/proc/self/cgroup", "0::/a/b\n"},
    {GROUP "a/b/cpu.max", "max 100000\n"},
    {GROUP "a/cpu.max", "150000 100000\n"},
    {GROUP "a/cpu.stat", "nr_periods 9\nnr_throttled 7\n"},
    {GROUP "a/memory.max", "536870912\n"},
    {CPU "cpu[0-2]/cpufreq/scaling_governor", "powersave\n"},
    {CPU "cpu3/cpufreq/scaling_governor", "performance\n"},
    {ANY_CPU "cpufreq/scaling_driver", "acpi-cpufreq\n"},
    {CPU "intel_pstate/no_turbo", "0\n"},
    {CPU "cpu[01]/cpu_capacity", "1024\n"},
    {CPU "cpu[23]/cpu_capacity", "446\n"},
    {CPU "cpu[01]/topology/thread_siblings_list", "0-1\n"},
    {CPU "cpu[23]/topology/thread_siblings_list", "2,3,6\n"},
    {ANY_CPU "thermal_throttle/core_throttle_count", "12\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"},
    {"/sys/devices/system/node/online", "0-1\n"},
    {"/sys/devices/system/node/node0/cpulist", "4-7\n"},
    {"/sys/devices/system/node/node1/cpulist", "0-3\n"},
    {"/proc/sys/kernel/numa_balancing", "1\n"},
    {CLOCK "current_clocksource", "hpet\n"},
    {CLOCK "available_clocksource", "hpet acpi_pm \n"},
    {"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n"},
    {"/proc/sys/kernel/randomize_va_space", "0\n"},
    {0},
};
static const expected of_bad[] = {
    {"affinity", FINDING_BAD, "CPU 0-3: 4 of 4 online; 5 threads"},
    {"governor", FINDING_BAD, "powersave on 3 of 4 CPUs (driver acpi-cpufreq)"},
    {"turbo", FINDING_NOTE, "echo 1 | sudo tee " CPU "intel_pstate/no_turbo"},
    {"core-kinds", FINDING_NOTE, "2 of 4 CPUs are fast; the slowest has 44 % of their speed"},
    {"core-kinds", FINDING_NOTE, "taskset -c 0-1 normlab ... --threads 2"},
    {"smt", FINDING_BAD, "4 CPUs, 2 cores; 4 may be slowed down"},
    {"thermal", FINDING_NOTE, "12 times"},
    {"load", FINDING_BAD, "3.50 on average over 1 min, for 4 of 4 CPUs; 4 other tasks"},
    {"others", FINDING_BAD, "kept 3.0 of 4 CPUs busy, for 1.00 s"},
    {"steal", FINDING_BAD, "400 ms taken by the hypervisor in 1.00 s; 7.69 % since boot"},
    {"quota", FINDING_BAD, "1.50 CPUs, for 5 threads"},
    {"quota", FINDING_BAD, "--threads 1;"},
    {"throttling", FINDING_BAD, "7 times since the group was created, 2 of them just now"},
    {"memory", FINDING_BAD, "8.0 of 16.0 GiB available; our control group may use 0.5 GiB"},
    {"swap", FINDING_BAD, "1.0 of 2.0 GiB used; 30 pages moved just now"},
    {"numa", FINDING_NOTE, "2 nodes, our CPUs on 1; automatic balancing on"},
    {"numa", FINDING_NOTE, "--cpunodebind=1 --membind=1"},
    {"clocksource", FINDING_BAD, "hpet (available: hpet acpi_pm)"},
    {"virtualization", FINDING_NOTE, "a virtual machine"},
    {"aslr", FINDING_NOTE, "off"},
    {0},
};

/* A machine where nothing disturbs measurements, with control groups of version 1. */
static const fake_file good[] = {
    {"/proc/loadavg", "0.01 0.00 0.00 1/200 9\n"},
    {"/proc/stat", "cpu0 500 0 0 100 0 0 0 0 0 0\ncpu9 1 1 1 1 1 1 1 1 1 1\n"},
    {"/proc/vmstat", "pswpin 0\npswpout 0\n"},
    {"/proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 62914560 kB\nSwapTotal: 0 kB\n"
                      "SwapFree: 0 kB\n"},
    {"/proc/self/cgroup", "4:cpu,cpuacct:/x/y\n3:memory:/x\n"},
    {GROUP "cpu/x/y/cpu.cfs_quota_us", "-1\n"},
    {GROUP "cpu/x/y/cpu.cfs_period_us", "100000\n"},
    {GROUP "cpu/x/y/cpu.stat", "nr_throttled 0\n"},
    {GROUP "memory/x/memory.limit_in_bytes", "9223372036854771712\n"},
    {ANY_CPU "cpufreq/scaling_governor", "performance\n"},
    {ANY_CPU "cpufreq/scaling_driver", "intel_pstate\n"},
    {CPU "cpufreq/boost", "0\n"},
    {ANY_CPU "cpufreq/cpuinfo_max_freq", "3000000\n"},
    {CPU "cpu0/topology/thread_siblings_list", "0\n"},
    {CPU "cpu1/topology/thread_siblings_list", "1\n"},
    {CPU "cpu2/topology/thread_siblings_list", "2\n"},
    {CPU "cpu3/topology/thread_siblings_list", "3\n"},
    {ANY_CPU "thermal_throttle/core_throttle_count", "0\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"},
    {"/sys/devices/system/node/online", "0\n"},
    {"/sys/devices/system/node/node0/cpulist", "0-3\n"},
    {CLOCK "current_clocksource", "tsc\n"},
    {CLOCK "available_clocksource", "tsc hpet\n"},
    {"/proc/cpuinfo", "flags\t\t: fpu sse2\n"},
    {"/sys/class/dmi/id/sys_vendor", "Maker\n"},
    {"/sys/class/dmi/id/product_name", "Desk 1\n"},
    {0},
};
static const expected of_good[] = {
    {"governor", FINDING_GOOD, "performance on 4 of 4 CPUs (driver intel_pstate)"},
    {"turbo", FINDING_GOOD, "off"},
    {"core-kinds", FINDING_GOOD, "one kind of core"},
    {"smt", FINDING_GOOD, "none of our CPUs shares its core"},
    {"thermal", FINDING_GOOD, "0 times"},
    {"load", FINDING_GOOD, "0 other tasks"},
    {"others", FINDING_GOOD, "kept 0.0 of 4 CPUs busy"},
    {"steal", FINDING_GOOD, "0 ms"},
    {"quota", FINDING_GOOD, "no quota"},
    {"throttling", FINDING_GOOD, "0 times"},
    {"memory", FINDING_GOOD, "60.0 of 64.0 GiB available"},
    {"swap", FINDING_GOOD, "none"},
    {"numa", FINDING_GOOD, "1 node"},
    {"clocksource", FINDING_GOOD, "tsc (available: tsc hpet)"},
    {"virtualization", FINDING_GOOD, "no sign of a hypervisor (Maker Desk 1)"},
    {0},
};

/* A machine whose files cannot be read. */
static const fake_file none[] = {{0}};
static const expected of_none[] = {
    {"affinity", FINDING_UNKNOWN, "4 CPUs online"},
    {"governor", FINDING_UNKNOWN, "no cpufreq"},
    {"turbo", FINDING_UNKNOWN, "no turbo switch"},
    {"core-kinds", FINDING_UNKNOWN, "neither"},
    {"smt", FINDING_UNKNOWN, "no CPU topology"},
    {"thermal", FINDING_UNKNOWN, "no thermal_throttle"},
    {"load", FINDING_UNKNOWN, "/proc/loadavg"},
    {"others", FINDING_UNKNOWN, "/proc/stat"},
    {"steal", FINDING_UNKNOWN, "/proc/stat"},
    {"quota", FINDING_UNKNOWN, "not mounted"},
    {"throttling", FINDING_UNKNOWN, "not mounted"},
    {"huge-pages", FINDING_UNKNOWN, "No such file"},
    {"memory", FINDING_UNKNOWN, "/proc/meminfo: No such file"},
    {"swap", FINDING_UNKNOWN, "/proc/meminfo: No such file"},
    {"numa", FINDING_UNKNOWN, "No such file"},
    {"clocksource", FINDING_UNKNOWN, "No such file"},
    {"virtualization", FINDING_UNKNOWN, "does not show"},
    {"aslr", FINDING_UNKNOWN, "No such file"},
    {0},
};

/* The counters' rise in the second that the doctor watches; the files have the final numbers. */
typedef struct second {
    double busy, steal, swapped, throttled;
} second;

static void examine(const fake_file *files, const expected *want, int threads, second s) {
    enum { MOST = 40 };
    finding found[MOST];
    exam e = {.out = found, .most = MOST, .threads = threads, .cpu = {1, 1, 1, 1}};
    e.cpus = e.online = 4, e.mask_known = files->pattern != NULL;
    fake_files = files;
    load_begin(&e);
    load_count(&e, &e.after);
    e.before = e.after;
    e.before.ns -= 1e9, e.before.busy -= s.busy, e.before.steal -= s.steal;
    e.before.swapped -= s.swapped, e.before.group.throttled -= s.throttled;
    examine_cpus(&e);
    examine_load(&e);
    examine_memory(&e);
    examine_system(&e);
    fake_files = NULL;
    for (; want->topic; want++) {
        const finding *f = found;
        while (f < found + e.count && strcmp(f->topic, want->topic) != 0) f++;
        cr_assert(f < found + e.count, "nothing about %s", want->topic);
        cr_expect(f->level == want->level &&
                      (strstr(f->value, want->text) || strstr(f->advice, want->text)),
                  "%s: level %d, not %d, and '%s'; '%s' should have '%s'", f->topic, (int)f->level,
                  (int)want->level, f->value, f->advice, want->text);
    }
}

Test(machine, bad) {
    examine(bad, of_bad, 5, (second){.busy = 3, .steal = 0.4, .swapped = 30, .throttled = 2});
}

Test(machine, good) {
    examine(good, of_good, 1, (second){0});
}

Test(machine, unreadable) {
    examine(none, of_none, 1, (second){0});
}
