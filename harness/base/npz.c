/* The zip format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT. A directory at the
 * end has names, sizes and offsets; the headers before the files are skipped.
 * SPDX-License-Identifier: MIT */
#include "base/npz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { END = 22, ENTRY = 46, LOCAL = 30, COMMENT_MAX = 65535, DIRECTORY_MAX = 1 << 20 };

typedef struct zip {
    FILE *f;
    uint64_t size, directory; /* bytes of the file, and where its directory begins */
    size_t directory_size;
    unsigned char *entries;
    const npy_errors *to;
} zip;

static uint32_t number(const unsigned char *at, int bytes) {
    uint32_t n = 0;
    while (bytes-- > 0) n = n << 8 | at[bytes];
    return n;
}

uint32_t npz_crc(uint32_t crc, const void *bytes, size_t size) {
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    for (const unsigned char *p = bytes; size-- > 0; p++) crc = crc >> 8 ^ table[(crc ^ *p) & 255];
    return ~crc;
}

const char *npz_suffix(const char *path) {
    const char *last = NULL;
    for (const char *at = path; (at = strstr(at, ".npz")); at += 4)
        if (at[4] == '\0' || at[4] == ':') last = at + 4;
    return last;
}

static bool damaged(const zip *z, const char *what) {
    return npy_wrong(z->to, " is a damaged .npz: %s; save or copy it again", what);
}

static bool get(const zip *z, uint64_t at, void *out, size_t bytes) {
    return at <= z->size && bytes <= z->size - at && fseeko(z->f, (off_t)at, SEEK_SET) == 0 &&
           fread(out, 1, bytes, z->f) == bytes;
}

/* The end of the file: a record that describes the directory, and a comment of a length in it. */
static bool find_directory(zip *z) {
    struct stat st;
    if (fstat(fileno(z->f), &st) != 0 || !S_ISREG(st.st_mode))
        return npy_wrong(z->to, " is no regular file: an .npz is read from its end");
    z->size = (uint64_t)st.st_size;
    const size_t most = END + COMMENT_MAX, tail = z->size < most ? (size_t)z->size : most;
    unsigned char *bytes = malloc(tail + 1), *end = NULL;
    const bool read = bytes && get(z, z->size - tail, bytes, tail);
    for (size_t i = 0; read && tail >= END && i <= tail - END && !end; i++) {
        unsigned char *at = bytes + tail - END - i;
        if (memcmp(at, "PK\5\6", 4) == 0 && number(at + 20, 2) == i) end = at;
    }
    if (end) {
        z->directory_size = number(end + 12, 4), z->directory = number(end + 16, 4);
        z->size -= tail - (size_t)(end - bytes); /* what lies before the record */
    }
    const bool found = end, parts = end && number(end + 4, 4);
    free(bytes);
    if (!found) return damaged(z, "it has no directory at its end");
    if (parts) return npy_wrong(z->to, " is a part of a zip: save it again with numpy.savez");
    if (z->directory == UINT32_MAX)
        return npy_wrong(z->to, " is beyond 4 GiB: save its arrays with numpy.save");
    if (z->directory_size > DIRECTORY_MAX)
        return npy_wrong(z->to, " has a directory of %zu bytes, more than %d: save fewer arrays",
                         z->directory_size, DIRECTORY_MAX);
    if (z->directory > z->size || z->directory_size > z->size - z->directory)
        return damaged(z, "its directory lies beyond its end");
    z->entries = malloc(z->directory_size + 1);
    if (!z->entries) return npy_wrong(z->to, ": out of memory for its directory");
    return get(z, z->directory, z->entries, z->directory_size) ||
           damaged(z, "its directory cannot be read");
}

/* Returns the entry at *offset, and moves *offset to the next; NULL: there is none, or it is
 * cut. */
static const unsigned char *next(const zip *z, size_t *offset) {
    const size_t left = z->directory_size - *offset;
    const unsigned char *e = z->entries + *offset;
    if (left < ENTRY || memcmp(e, "PK\1\2", 4) != 0) return NULL;
    const size_t size = ENTRY + number(e + 28, 2) + number(e + 30, 2) + number(e + 32, 2);
    if (size > left) return NULL;
    *offset += size;
    return e;
}

static bool is_called(const unsigned char *e, const char *name) {
    const size_t length = strlen(name);
    return number(e + 28, 2) == length + 4 && memcmp(e + ENTRY, name, length) == 0 &&
           memcmp(e + ENTRY + length, ".npy", 4) == 0;
}

/* The names in the file, as far as they fit. */
static bool no_such(const zip *z, const char *name) {
    char names[200] = "";
    size_t offset = 0, used = 0;
    for (const unsigned char *e; (e = next(z, &offset));) {
        size_t length = number(e + 28, 2);
        if (length > 4 && memcmp(e + ENTRY + length - 4, ".npy", 4) == 0) length -= 4;
        if (used + length + 8 > sizeof names) {
            strcpy(names + used, ", ...");
            break;
        }
        if (used) names[used++] = ',', names[used++] = ' ';
        for (size_t i = 0; i < length; i++) {
            const unsigned char c = e[ENTRY + i];
            names[used++] = c >= ' ' && c <= '~' ? (char)c : '?';
        }
        names[used] = '\0';
    }
    return npy_wrong(z->to, " has no array '%.100s'; it has %s: name one, as FILE.npz:ARRAY", name,
                     *names ? names : "none");
}

static bool right_crc(const zip *z, uint64_t at, uint64_t size, uint32_t due) {
    unsigned char bytes[1 << 14];
    uint32_t crc = 0;
    while (size > 0) {
        const size_t part = size < sizeof bytes ? (size_t)size : sizeof bytes;
        if (!get(z, at, bytes, part)) return false;
        crc = npz_crc(crc, bytes, part);
        at += part, size -= part;
    }
    return crc == due;
}

/* Everything between `at` and the directory is checked before it is used. */
static bool enter(const zip *z, const unsigned char *e, uint64_t *end, const char *name) {
    unsigned char local[LOCAL];
    const uint32_t method = number(e + 10, 2), size = number(e + 24, 4), at = number(e + 42, 4);
    if (number(e + 8, 2) & 1) return npy_wrong(z->to, " is encrypted: save it with numpy.savez");
    if (method != 0)
        return npy_wrong(z->to, " is compressed: save it with numpy.savez, not %s",
                         method == 8 ? "numpy.savez_compressed" : "by a program for zips");
    if (size == UINT32_MAX || at == UINT32_MAX)
        return npy_wrong(z->to, " is beyond 4 GiB: save %.100s with numpy.save", name);
    if (number(e + 20, 4) != size) return damaged(z, "an array has two sizes");
    if (!get(z, at, local, LOCAL) || memcmp(local, "PK\3\4", 4) != 0)
        return damaged(z, "its directory names a place without an array");
    const uint64_t begin = (uint64_t)at + LOCAL + number(local + 26, 2) + number(local + 28, 2);
    *end = begin + size;
    if (*end > z->directory) return damaged(z, "an array reaches into its directory");
    if (!right_crc(z, begin, size, number(e + 16, 4)))
        return damaged(z, "the array has another checksum");
    return fseeko(z->f, (off_t)begin, SEEK_SET) == 0 || damaged(z, "it cannot be read");
}

bool npz_find(FILE *f, const char *name, uint64_t *end, const npy_errors *to) {
    zip z = {.f = f, .to = to};
    const unsigned char *found = NULL;
    size_t offset = 0, same = 0;
    bool ok = find_directory(&z);
    for (const unsigned char *e; ok && (e = next(&z, &offset));)
        if (is_called(e, name)) found = e, same++;
    if (ok && offset != z.directory_size) ok = damaged(&z, "its directory is cut");
    if (ok && same > 1) ok = npy_wrong(to, " has %zu arrays '%.100s'", same, name);
    if (ok && !same) ok = no_such(&z, name);
    ok = ok && enter(&z, found, end, name);
    free(z.entries);
    return ok;
}
