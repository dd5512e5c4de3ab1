/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* the registers of a signal's context */
#endif
#include "platform/fault.h"

#include <signal.h>
#include <ucontext.h>

int fault_access(const void *context) {
    const ucontext_t *at = context;
#if defined(__x86_64__)
    enum { WRITE = 2, FETCH = 16 };
    const long long error = at->uc_mcontext.gregs[REG_ERR];
    return error & FETCH ? ACCESS_JUMP : error & WRITE ? ACCESS_WRITE : ACCESS_READ;
#elif defined(__aarch64__)
    enum { FETCH = 0x20, CLASS = 26, WRITE = 1 << 6 };
    const char *next = (const char *)at->uc_mcontext.__reserved;
    for (const struct _aarch64_ctx *head; (head = (const void *)next)->magic; next += head->size) {
        if (head->magic != ESR_MAGIC) continue;
        const unsigned long long error = ((const struct esr_context *)head)->esr;
        return error >> CLASS == FETCH ? ACCESS_JUMP : error & WRITE ? ACCESS_WRITE : ACCESS_READ;
    }
    return ACCESS_UNKNOWN;
#else
    (void)at;
    return ACCESS_UNKNOWN;
#endif
}
