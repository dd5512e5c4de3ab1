/* Tests vec.h's functions that load, store and round, for each lane, type and number of unmasked
 * lanes, on a buffer between two guard pages. No test can find a missing vfence: it orders
 * streaming stores for other threads, and on x86 a wrong order is too rare.
 * SPDX-License-Identifier: MIT */
#include "lanes.h"

#include <sys/mman.h>
#include <unistd.h>

static char *page; /* the accessible page */
static size_t page_size;

/* Places of k elements on the page: at its start, at its end, or not aligned. */
enum { START, END, ODD, PLACES };
static const char *const places[] = {", at a page's start", ", at a page's end", ", not aligned"};

static char *place(int where, nl_dtype t, size_t k) {
    const size_t size = nl_dtype_size(t);
    return page + (where == START ? 0 : where == END ? page_size - k * size : 1024 + size);
}

/* The pointer p for which p[i] is at the place `at`. */
static void *base(char *at, nl_dtype t, size_t i) {
    return (void *)((uintptr_t)at - i * nl_dtype_size(t));
}

/* Loads every pattern of a 16-bit type, and k elements at every place. */
static bool vload_is_right(nl_dtype t) {
    begin("vload", t, VLEN, "");
    for (size_t n = 0; n < PATTERNS; n += VLEN) {
        uint32_t a[VLEN];
        lanes want;
        for (size_t l = 0; l < VLEN; l++) {
            if (t == NL_F32) a[l] = nl_bits(value(t, n + l));
            if (t != NL_F32) memcpy((uint16_t *)a + l, &(uint16_t){(uint16_t)(n + l)}, 2);
        }
        for (size_t l = 0; l < VLEN; l++) want.at[l] = nl_load(t, a, l);
        if (!right(vload(t, a, 0, VLEN), want)) return false;
    }
    for (size_t i = 0; i < page_size / 4; i++) nl_store(t, page, i, moderate(i));
    for (size_t k = 0; k <= VLEN; k++)
        for (int where = START; where < PLACES; where++)
            for (size_t i = 0; i < 6; i += 5) {
                char *at = place(where, t, k);
                lanes want = {{0}};
                for (size_t l = 0; l < k; l++) want.at[l] = nl_load(t, at, l);
                begin("vload", t, k, places[where]);
                if (!right(vload(t, base(at, t, i), i, k), want)) return false;
            }
    return true;
}

/* Does the page have k lanes of v at the place `at`, and its old contents elsewhere? */
static bool stored(nl_dtype t, const char *at, size_t k, lanes v) {
    const char *end = at + k * nl_dtype_size(t);
    for (size_t l = 0; l < k; l++) {
        float got = nl_load(t, at, l), want = nl_round(t, v.at[l]);
        if (!same(got, want)) return fail(l, got, want);
    }
    for (const char *p = page; p < page + page_size; p++) {
        if (*p == 0x5a || (p >= at && p < end)) continue;
        snprintf(words_why, sizeof words_why, "%s: wrote %td bytes from its place", words_call,
                 p - at);
        return false;
    }
    return true;
}

static bool vstore_and_vstream_are_right(nl_dtype t) {
    for (size_t k = 0; k <= VLEN; k++)
        for (int where = START; where < PLACES; where++)
            for (size_t i = 0; i < 6; i += 5) {
                lanes v;
                for (size_t l = 0; l < VLEN; l++) v.at[l] = moderate(32 * k + l);
                char *at = place(where, t, k);
                memset(page, 0x5a, page_size);
                begin("vstore", t, k, places[where]);
                vstore(t, base(at, t, i), i, k, vector(v));
                if (!stored(t, at, k, v)) return false;
                if (k < VLEN || where == ODD) continue;
                memset(page, 0x5a, page_size);
                begin("vstream", t, k, places[where]);
                vstream(t, base(at, t, i), i, vector(v));
                vfence();
                if (!stored(t, at, k, v)) return false;
            }
    return true;
}

/* Stores two vectors side by side; neither store may depend on the other vector. */
static bool pairs_are_right(nl_dtype t) {
    for (int where = START; where < PLACES; where++)
        for (size_t n = 0; n < VALUES; n += VLEN) {
            lanes v[2];
            char *at = place(where, t, 2 * VLEN);
            for (size_t l = 0; l < VLEN; l++)
                v[n / VLEN % 2].at[l] = value(t, n + l),
                             v[1 - n / VLEN % 2].at[l] = moderate(n + l);
            for (int streams = 0; streams < (where == ODD ? 1 : 2); streams++) {
                begin(streams ? "vstream2" : "vstore2", t, VLEN, places[where]);
                if (streams)
                    vstream2(t, base(at, t, 5), 5, vector(v[0]), vector(v[1]));
                else
                    vstore2(t, base(at, t, 5), 5, vector(v[0]), vector(v[1]));
                vfence();
                for (size_t l = 0; l < 2 * VLEN; l++) {
                    const float got = nl_load(t, at, l);
                    const float want = nl_round(t, v[l / VLEN].at[l % VLEN]);
                    if (!same(got, want)) return fail(l, got, want);
                }
            }
        }
    return true;
}

/* Tests stores of every value, vround (which must give the same numbers), and vkeep. */
static bool rounding_is_right(nl_dtype t) {
    for (size_t n = 0; n < VALUES; n += VLEN) {
        lanes v, want;
        _Alignas(64) uint32_t a[VLEN], b[VLEN];
        for (size_t l = 0; l < VLEN; l++) v.at[l] = value(t, n + l);
        for (size_t l = 0; l < VLEN; l++) want.at[l] = nl_round(t, v.at[l]);
        begin("vround", t, VLEN, "");
        if (!right(vround(t, vector(v)), want)) return false;
        vstore(t, a, 0, VLEN, vector(v));
        vstream(t, b, 0, vector(v));
        vfence();
        for (size_t l = 0; l < VLEN; l++) {
            float x = nl_load(t, a, l), y = nl_load(t, b, l);
            begin("vstore", t, VLEN, "");
            if (!same(x, want.at[l])) return fail(l, x, want.at[l]);
            begin("vstream", t, VLEN, "");
            if (!same(y, want.at[l])) return fail(l, y, want.at[l]);
        }
        const size_t k = n / VLEN % (VLEN + 1);
        begin("vkeep", t, k, "");
        for (size_t l = 0; l < VLEN; l++) want.at[l] = l < k ? v.at[l] : 0;
        if (!right(vkeep(vector(v), k), want)) return false;
    }
    return true;
}

/* Prefetching inaccessible memory does not fault. */
static bool vprefetch_is_right(void) {
    begin("vprefetch", NL_F32, 0, "");
    vprefetch(page - 1), vprefetch(page + page_size), vprefetch(NULL);
    return true;
}

bool WORDS_JOIN(words_in_memory_, NL_ISA)(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page = map + page_size;
    bool ok = map != MAP_FAILED && mprotect(page, page_size, PROT_READ | PROT_WRITE) == 0;
    if (!ok) snprintf(words_why, sizeof words_why, "no memory");
    for (nl_dtype t = 0; ok && NL_BIT(t) <= NL_VEC_DTYPES; t++)
        ok = vload_is_right(t) && vstore_and_vstream_are_right(t) && pairs_are_right(t) &&
             rounding_is_right(t);
    ok = ok && vprefetch_is_right();
    if (map != MAP_FAILED) munmap(map, 3 * page_size);
    return ok;
}
