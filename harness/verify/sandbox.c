/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CLONE_THREAD */
#endif
#include "verify/worker.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef NL_SECCOMP

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A compiler does not need these either. */
static const int of_nobody[] = {SCMP_SYS(ptrace),
                                SCMP_SYS(socket),
                                SCMP_SYS(process_vm_writev),
                                SCMP_SYS(io_uring_setup),
                                SCMP_SYS(mount),
                                SCMP_SYS(pidfd_getfd),
                                SCMP_SYS(bpf),
                                SCMP_SYS(name_to_handle_at),
                                SCMP_SYS(open_by_handle_at),
                                SCMP_SYS(unshare),
                                SCMP_SYS(setns),
                                SCMP_SYS(chroot),
                                SCMP_SYS(umount2),
                                SCMP_SYS(keyctl),
                                SCMP_SYS(add_key),
                                SCMP_SYS(userfaultfd),
                                SCMP_SYS(perf_event_open)};

static const int never[] = {SCMP_SYS(execve),
                            SCMP_SYS(execveat),
                            SCMP_SYS(creat),
                            SCMP_SYS(openat2),
                            SCMP_SYS(unlink),
                            SCMP_SYS(unlinkat),
                            SCMP_SYS(rename),
                            SCMP_SYS(renameat),
                            SCMP_SYS(renameat2),
                            SCMP_SYS(link),
                            SCMP_SYS(linkat),
                            SCMP_SYS(symlink),
                            SCMP_SYS(symlinkat),
                            SCMP_SYS(mkdir),
                            SCMP_SYS(mkdirat),
                            SCMP_SYS(rmdir),
                            SCMP_SYS(mknod),
                            SCMP_SYS(mknodat),
                            SCMP_SYS(truncate),
                            SCMP_SYS(chmod),
                            SCMP_SYS(fchmodat),
                            SCMP_SYS(chown),
                            SCMP_SYS(fchownat),
                            SCMP_SYS(fchmod),
                            SCMP_SYS(fchown),
                            SCMP_SYS(lchown),
                            SCMP_SYS(setxattr),
                            SCMP_SYS(lsetxattr),
                            SCMP_SYS(setpriority),
                            SCMP_SYS(utimensat),
                            SCMP_SYS(utimes),
                            SCMP_SYS(utime),
                            SCMP_SYS(futimesat),
                            SCMP_SYS(fsetxattr),
                            SCMP_SYS(removexattr),
                            SCMP_SYS(lremovexattr),
                            SCMP_SYS(shmget),
                            SCMP_SYS(msgget),
                            SCMP_SYS(semget),
                            SCMP_SYS(mq_open),
                            SCMP_SYS(mq_unlink),
                            SCMP_SYS(ioprio_set),
                            SCMP_SYS(sched_setscheduler),
                            SCMP_SYS(sched_setparam),
                            SCMP_SYS(sched_setattr)};

/* The calls that a process needs to start others. */
static const int of_processes[] = {SCMP_SYS(fork),
                                   SCMP_SYS(vfork),
                                   SCMP_SYS(tkill),
                                   SCMP_SYS(rt_sigqueueinfo),
                                   SCMP_SYS(rt_tgsigqueueinfo),
                                   SCMP_SYS(pidfd_send_signal),
                                   SCMP_SYS(socketpair),
                                   SCMP_SYS(setpgid),
                                   SCMP_SYS(setsid)};

/* A condition: the argument with this index equals a, differs from a, or equals b under the mask
 * a. */
static void refuse(scmp_filter_ctx all, int call, unsigned index, enum scmp_compare how,
                   scmp_datum_t a, scmp_datum_t b) {
    const struct scmp_arg_cmp when = {.arg = index, .op = how, .datum_a = a, .datum_b = b};
    seccomp_rule_add_array(all, SCMP_ACT_TRAP, call, 1, &when);
}

static void refuse_processes(scmp_filter_ctx all) {
    const scmp_datum_t self = (scmp_datum_t)getpid();
    for (size_t i = 0; i < sizeof of_processes / sizeof *of_processes; i++)
        seccomp_rule_add(all, SCMP_ACT_TRAP, of_processes[i], 0);
    refuse(all, SCMP_SYS(kill), 0, SCMP_CMP_NE, self, 0);
    refuse(all, SCMP_SYS(tgkill), 0, SCMP_CMP_NE, self, 0);
    refuse(all, SCMP_SYS(clone), 0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0);
}

static void refuse_files(scmp_filter_ctx all) {
    const int files[] = {SCMP_SYS(open), SCMP_SYS(openat)};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        seccomp_rule_add(all, SCMP_ACT_TRAP, never[i], 0);
    for (unsigned i = 0; i < 2; i++) { /* the flags are the second argument, or the third */
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_ACCMODE, O_WRONLY);
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDWR);
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT);
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_TRUNC, O_TRUNC);
    }
    refuse(all, SCMP_SYS(prlimit64), 0, SCMP_CMP_NE, 0, 0);
    refuse(all, SCMP_SYS(sched_setaffinity), 0, SCMP_CMP_EQ, (scmp_datum_t)getppid(), 0);
    const int signals[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG}; /* other processes get signals through
                                                              * a file, too */
    for (unsigned i = 0; i < 3; i++)
        refuse(all, SCMP_SYS(fcntl), 1, SCMP_CMP_EQ, (scmp_datum_t)signals[i], 0);
    refuse(all, SCMP_SYS(ioctl), 1, SCMP_CMP_EQ, TIOCSTI, 0); /* types into the terminal */
    /* A filter cannot read clone3's arguments; without it the C library takes clone. */
    seccomp_rule_add(all, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

void sandbox_enter(sandbox_kind kind) {
    scmp_filter_ctx all = seccomp_init(SCMP_ACT_ALLOW);
    if (!all) return;
    const uint32_t action = kind == SANDBOX_COMPILER ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP;
    seccomp_attr_set(all, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; i < sizeof of_nobody / sizeof *of_nobody; i++)
        seccomp_rule_add(all, action, of_nobody[i], 0);
    if (kind == SANDBOX_KERNEL) refuse_files(all), refuse_processes(all);
    if (seccomp_load(all) != 0) { /* for example, not all threads can be sandboxed at once */
        seccomp_attr_set(all, SCMP_FLTATR_CTL_TSYNC, 0);
        seccomp_load(all);
    }
    seccomp_release(all);
}

bool sandbox_call(int number, char *name, size_t size) {
    char *text = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    snprintf(name, size, "%s", text ? text : "system call");
    free(text);
    return true;
}

#else

void sandbox_enter(sandbox_kind kind) {
    (void)kind;
}

bool sandbox_call(int number, char *name, size_t size) {
    (void)number;
    snprintf(name, size, "system call");
    return false;
}

#endif
