/* SPDX-License-Identifier: MIT */
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

/* System calls that neither a kernel nor a compiler needs. */
static const char of_nobody[] =
    "ptrace socket process_vm_writev io_uring_setup mount pidfd_getfd bpf name_to_handle_at "
    "open_by_handle_at unshare setns chroot umount2 keyctl add_key userfaultfd "
    "perf_event_open";

static const char never[] =
    "execve execveat creat openat2 unlink unlinkat rename renameat renameat2 link linkat "
    "symlink symlinkat mkdir mkdirat rmdir mknod mknodat truncate chmod fchmodat chown "
    "fchownat fchmod fchown lchown setxattr lsetxattr setpriority utimensat utimes utime "
    "futimesat fsetxattr removexattr lremovexattr shmget msgget semget mq_open mq_unlink "
    "ioprio_set sched_setscheduler sched_setparam sched_setattr";

/* System calls that concern other processes. */
static const char of_processes[] =
    "fork vfork tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal socketpair setpgid "
    "setsid";

/* Refuses the system calls with these names. */
static void refuse_all(scmp_filter_ctx all, uint32_t action, const char *names) {
    char name[40];
    for (int used; sscanf(names, "%39s%n", name, &used) == 1; names += used) {
        const int call = seccomp_syscall_resolve_name(name);
        if (call == __NR_SCMP_ERROR) abort(); /* misspelled */
        seccomp_rule_add(all, action, call, 0);
    }
}

/* Refuses `call` if the argument with this index equals a, is not a, or masked by a equals b. */
static void refuse(scmp_filter_ctx all, int call, unsigned index, enum scmp_compare how,
                   scmp_datum_t a, scmp_datum_t b) {
    const struct scmp_arg_cmp when = {.arg = index, .op = how, .datum_a = a, .datum_b = b};
    seccomp_rule_add_array(all, SCMP_ACT_TRAP, call, 1, &when);
}

static void refuse_processes(scmp_filter_ctx all) {
    const scmp_datum_t self = (scmp_datum_t)getpid();
    refuse_all(all, SCMP_ACT_TRAP, of_processes);
    refuse(all, SCMP_SYS(kill), 0, SCMP_CMP_NE, self, 0);
    refuse(all, SCMP_SYS(tgkill), 0, SCMP_CMP_NE, self, 0);
    refuse(all, SCMP_SYS(clone), 0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0);
}

static void refuse_files(scmp_filter_ctx all) {
    const int files[] = {SCMP_SYS(open), SCMP_SYS(openat)};
    refuse_all(all, SCMP_ACT_TRAP, never);
    for (unsigned i = 0; i < 2; i++) { /* the flags have index 1 in open, and 2 in openat */
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_ACCMODE, O_WRONLY);
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDWR);
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT);
        refuse(all, files[i], i + 1, SCMP_CMP_MASKED_EQ, O_TRUNC, O_TRUNC);
    }
    refuse(all, SCMP_SYS(prlimit64), 0, SCMP_CMP_NE, 0, 0);
    refuse(all, SCMP_SYS(sched_setaffinity), 0, SCMP_CMP_EQ, (scmp_datum_t)getppid(), 0);
    const int signals[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG}; /* these make a file send signals */
    for (unsigned i = 0; i < 3; i++)
        refuse(all, SCMP_SYS(fcntl), 1, SCMP_CMP_EQ, (scmp_datum_t)signals[i], 0);
    refuse(all, SCMP_SYS(ioctl), 1, SCMP_CMP_EQ, TIOCSTI, 0); /* types into the terminal */
    /* A filter cannot read clone3's arguments; without clone3 the C library takes clone. */
    seccomp_rule_add(all, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

void sandbox_enter(sandbox_kind kind) {
    scmp_filter_ctx all = seccomp_init(SCMP_ACT_ALLOW);
    if (!all) return;
    const uint32_t action = kind == SANDBOX_COMPILER ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP;
    seccomp_attr_set(all, SCMP_FLTATR_CTL_TSYNC, 1);
    refuse_all(all, action, of_nobody);
    if (kind == SANDBOX_KERNEL) refuse_files(all), refuse_processes(all);
    if (seccomp_load(all) != 0) { /* for example, if not all threads can be sandboxed at once */
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
