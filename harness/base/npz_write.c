/* SPDX-License-Identifier: MIT */
#include "base/npz.h"
#include "base/replace.h"

#include <errno.h>
#include <string.h>

enum { FIELDS = 26 }; /* shared by a file's header and directory entry */

typedef struct entry {
    unsigned char fields[FIELDS];
    uint64_t at;
} entry;

static void put_number(unsigned char **to, uint64_t n, int bytes) {
    for (int i = 0; i < bytes; i++) *(*to)++ = (unsigned char)(n >> 8 * i);
}

/* Version 2.0, stored, on the first of January 1980. */
static void fill(entry *e, uint32_t crc, uint64_t size, size_t name) {
    unsigned char *to = e->fields;
    put_number(&to, 20, 2), put_number(&to, 0, 4), put_number(&to, 0x00210000, 4);
    put_number(&to, crc, 4), put_number(&to, size, 4), put_number(&to, size, 4);
    put_number(&to, name, 2), put_number(&to, 0, 2);
}

static bool put_array(FILE *f, const char *name, const npy *a, entry *e) {
    char header[NPY_HEADER];
    const size_t bytes = a->count * npy_type_of(a->type)->bytes, length = npy_header(a, header);
    e->at = (uint64_t)ftello(f);
    fill(e, npz_crc(npz_crc(0, header, length), a->data, bytes), length + bytes, strlen(name) + 4);
    return fwrite("PK\3\4", 1, 4, f) == 4 && fwrite(e->fields, 1, FIELDS, f) == FIELDS &&
           fprintf(f, "%s.npy", name) > 0 && fwrite(header, 1, length, f) == length &&
           (!bytes || fwrite(a->data, 1, bytes, f) == bytes);
}

static bool put_directory(FILE *f, const char *const *names, const entry *all, size_t count) {
    unsigned char bytes[22], *to = bytes;
    const uint64_t begin = (uint64_t)ftello(f);
    for (size_t i = 0; i < count; i++) {
        unsigned char rest[14] = {0}, *at = rest + 10;
        put_number(&at, all[i].at, 4);
        if (fwrite("PK\1\2\24", 1, 6, f) != 6 || fwrite(all[i].fields, 1, FIELDS, f) != FIELDS ||
            fwrite(rest, 1, 14, f) != 14 || fprintf(f, "%s.npy", names[i]) < 0)
            return false;
    }
    const uint64_t size = (uint64_t)ftello(f) - begin;
    put_number(&to, 0x06054b50, 4), put_number(&to, 0, 4), put_number(&to, count, 2);
    put_number(&to, count, 2), put_number(&to, size, 4), put_number(&to, begin, 4);
    put_number(&to, 0, 2);
    return fwrite(bytes, 1, sizeof bytes, f) == sizeof bytes;
}

bool npz_write(const char *path, const char *const *names, const npy *arrays, size_t count,
               char *error, size_t error_size) {
    const npy_errors to = {path, error, error_size};
    entry all[NPZ_ARRAYS];
    replacement r;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += arrays[i].count * npy_type_of(arrays[i].type)->bytes + 1024;
    if (count > NPZ_ARRAYS || bytes > UINT32_MAX)
        return npy_wrong(&to, " would be beyond 4 GiB: write each array into an .npy");
    bool ok = npy_can_replace(&to) &&
              (replace_begin(&r, path) || npy_wrong(&to, ": cannot write it: %s", strerror(errno)));
    if (!ok) return false;
    for (size_t i = 0; ok && i < count; i++) ok = put_array(r.file, names[i], &arrays[i], &all[i]);
    ok = ok && put_directory(r.file, names, all, count) && npy_flush(r.file);
    const int why = errno;
    if (replace_end(&r, ok) && ok) return true;
    return npy_wrong(&to, ": cannot write it: %s", strerror(ok ? errno : why));
}
