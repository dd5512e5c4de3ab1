/* SPDX-License-Identifier: MIT */
#include "platform/system.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
double processor_ns(pid_t process) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) != 0) return -1;
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int file_without_name(void) {
    return memfd_create("normlab", MFD_CLOEXEC);
}

bool has_no_address(int code) {
    return code == SI_KERNEL || code <= 0;
}

int refused_call(const siginfo_t *info) {
    return info->si_syscall;
}

struct timespec modified_at(const struct stat *file) {
    return file->st_mtim;
}
#else
double processor_ns(pid_t process) {
    (void)process;
    return -1;
}

int file_without_name(void) {
    char name[] = "/tmp/normlab-XXXXXX";
    const int file = mkostemp(name, O_CLOEXEC);
    if (file >= 0) unlink(name);
    return file;
}

bool has_no_address(int code) {
    return code <= 0;
}

int refused_call(const siginfo_t *info) {
    return info->si_code;
}

struct timespec modified_at(const struct stat *file) {
    return file->st_mtimespec;
}
#endif
