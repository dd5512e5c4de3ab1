/* Examines system and program: clock source, hypervisor, address randomization, build, tuning.
 * SPDX-License-Identifier: MIT */
#include "build_info.h"
#include "machine/exam.h"
#include "tuning.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/personality.h>
#endif

#define DMI "/sys/class/dmi/id/"

static void clocksource(exam *e) {
    static const char *const fast[] = {"tsc", "arch_sys_counter", "kvm-clock",
                                       "hyperv_clocksource_tsc_page", "riscv_clocksource"};
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    const char *dir = "/sys/devices/system/clocksource/clocksource0";
    char now[KERNEL_TEXT], all[KERNEL_TEXT];
    finding_level level = FINDING_NOTE;
    if (!kernel_read(now, "%s/current_clocksource", dir)) {
        exam_unreadable(e, "clocksource", dir);
        return;
    }
    kernel_read(all, "%s/available_clocksource", dir);
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++)
        if (strcmp(now, fast[i]) == 0) level = FINDING_GOOD;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (strcmp(now, slow[i]) == 0) level = FINDING_BAD;
    finding *f = exam_add(e, "clocksource", level, NULL, "%.32s (available: %.64s)", now, all);
    if (level != FINDING_GOOD)
        snprintf(f->advice, sizeof f->advice,
                 "Clock reads may be slow: see timer. If tsc is available: echo tsc | sudo tee "
                 "%s/current_clocksource",
                 dir);
}

static void virtualization(exam *e) {
    static const char *const makers[] = {"QEMU",
                                         "KVM",
                                         "VMware",
                                         "VirtualBox",
                                         "innotek",
                                         "Xen",
                                         "Virtual Machine",
                                         "Google Compute",
                                         "OpenStack",
                                         "Parallels",
                                         "Bochs"};
    char vendor[KERNEL_TEXT], product[KERNEL_TEXT], flags[KERNEL_TEXT], dmi[80] = "";
    const bool known = kernel_value("/proc/cpuinfo", "flags\t", flags, sizeof flags);
    if (kernel_read(vendor, DMI "sys_vendor") && kernel_read(product, DMI "product_name"))
        snprintf(dmi, sizeof dmi, " (%.32s %.32s)", vendor, product);
    bool guest = known && strstr(flags, " hypervisor");
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        guest |= strstr(dmi, makers[i]) != NULL;
    guest |= kernel_read(product, "/sys/hypervisor/type");
    guest |= kernel_read(vendor, "/proc/device-tree/hypervisor/compatible");
    if (guest)
        exam_add(e, "virtualization", FINDING_NOTE,
                 "Caches, memory and perhaps cores are shared with other virtual machines: measure "
                 "in turns, repeat in fresh processes and at other hours",
                 "a virtual machine%s", dmi);
    else if (known)
        exam_add(e, "virtualization", FINDING_GOOD, NULL, "no sign of a hypervisor%s", dmi);
    else
        exam_add(e, "virtualization", FINDING_UNKNOWN, NULL,
                 "this system does not show whether it is a guest%s", dmi);
}

/* Random addresses are good: fresh processes then sample many placements instead of one. */
static void aslr(exam *e) {
    double kernel;
    if (!kernel_number("/proc/sys/kernel/randomize_va_space", "", &kernel)) {
        exam_unreadable(e, "aslr", "/proc/sys/kernel/randomize_va_space");
        return;
    }
    bool off = kernel == 0;
#ifdef __linux__
    int mine = personality(0xffffffff);
    off |= mine != -1 && (mine & ADDR_NO_RANDOMIZE);
#endif
    exam_add(e, "aslr", off ? FINDING_NOTE : FINDING_GOOD,
             "With the same addresses, fresh processes do not vary the placement: measure without "
             "setarch -R, with kernel.randomize_va_space=2",
             "%s",
             off ? "off: every run has the same addresses"
                 : "on: every run has other addresses, so repeat in fresh processes");
}

static void build(exam *e) {
    bool sanitized = strstr(NL_BUILD_FLAGS, "-fsanitize") || strstr(NL_BUILD_FLAGS, "--coverage");
#ifdef __OPTIMIZE__
    bool optimized = true;
#else
    bool optimized = false;
#endif
    exam_add(e, "build", optimized && !sanitized ? FINDING_GOOD : FINDING_BAD,
             "cmake --preset release, or CMAKE_BUILD_TYPE=Release", "%s, %s sanitizers or coverage",
             optimized ? "optimized" : "not optimized", sanitized ? "with" : "without");
}

static void tuning(exam *e) {
    char text[300];
    nl_tuning unused = {0};
    if (nl_tuning_check(&unused, text, sizeof text)) {
        nl_tuning_describe(text, sizeof text);
        exam_add(e, "tuning", FINDING_GOOD, NULL, "%s", text);
    } else {
        exam_add(
            e, "tuning", FINDING_BAD,
            "The defaults apply. Write the file with normlab tune --out FILE, or unset NL_TUNING",
            "%.120s", text);
    }
}

void examine_system(exam *e) {
    clocksource(e);
    virtualization(e);
    aslr(e);
    build(e);
    tuning(e);
}
