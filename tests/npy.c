/* The .npy reader on good files and on every broken one we could think of, and the writer's promise
 * that a file is complete or not there. SPDX-License-Identifier: MIT */
#include "base/npy_read.h"
#include "base/npy_write.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* With AddressSanitizer too, malloc returns NULL rather than ending the test. */
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

static char folder[256], path[300];

static void enter(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/normlab-npy-XXXXXX", temporary ? temporary : "/tmp");
    cr_assert(mkdtemp(folder), "cannot create %s", folder);
    snprintf(path, sizeof path, "%s/a.npy", folder);
}

/* Visits what is in the folder: how many entries there are, and away with them. */
static int entries(bool and_remove) {
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        if (and_remove) remove(name);
        count++;
    }
    if (d) closedir(d);
    return count;
}

static void leave(void) {
    entries(true);
    rmdir(folder);
}

TestSuite(npy, .init = enter, .fini = leave);

static void spill(const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "cannot write %s", path);
}

static size_t slurp(void *bytes, size_t size) {
    FILE *f = fopen(path, "rb");
    cr_assert(f, "cannot read %s", path);
    size_t n = fread(bytes, 1, size, f);
    fclose(f);
    return n;
}

/* The bytes of a file: version, dict as given plus a newline, then `data` bytes 0, 1, 2... */
static size_t compose(unsigned char *out, int version, const char *dict, size_t data) {
    size_t length = strlen(dict) + 1, at = 8;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version, out[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++) out[at++] = (unsigned char)(length >> 8 * i);
    memcpy(out + at, dict, length - 1);
    out[at + length - 1] = '\n';
    at += length;
    for (size_t i = 0; i < data; i++) out[at++] = (unsigned char)i;
    return at;
}

#define DICT(type, fortran, shape) \
    "{'descr': '" type "', 'fortran_order': " fortran ", 'shape': " shape ", }"

Test(npy, round_trips) {
    static const char letters[] = "efd";
    char error[512] = "";
    for (int t = 0; t < 3; t++) {
        for (size_t rank = 0; rank <= NPY_RANK_MOST; rank++) {
            size_t shape[] = {2, 1, 3, 1, 2, 1, 1, 4}, count = 1, width = (size_t)2 << t;
            unsigned char data[8 * 48], file[1024];
            for (size_t i = 0; i < rank; i++) count *= shape[i];
            for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + rank);
            npy a;
            bool ok = npy_write(path, letters[t], rank, shape, data, error, sizeof error) &&
                      npy_read(path, &a, error, sizeof error);
            cr_assert(ok, "type %c, rank %zu: %s", letters[t], rank, error);
            ok = a.type == letters[t] && a.rank == rank && a.count == count &&
                 memcmp(a.shape, shape, rank * sizeof *shape) == 0 &&
                 memcmp(a.data, data, count * width) == 0;
            cr_assert(ok, "type %c, rank %zu came back different", letters[t], rank);
            size_t size = slurp(file, sizeof file), header = size - count * width;
            cr_assert(header % 64 == 0 && file[header - 1] == '\n' && file[6] == 1,
                      "rank %zu: the data begin at byte %zu, not at a multiple of 64", rank,
                      header);
            npy_free(&a);
        }
    }
    cr_assert(entries(false) == 1, "a temporary file was left behind");
}

Test(npy, empty_arrays) {
    static const size_t shapes[][2] = {{0, 4}, {4, 0}, {0, 0}, {0, (size_t)1 << 40}};
    char error[512];
    for (size_t i = 0; i < 4; i++) {
        npy a;
        bool ok = npy_write(path, 'f', 2, shapes[i], NULL, error, sizeof error) &&
                  npy_read(path, &a, error, sizeof error);
        cr_assert(ok, "(%zu, %zu): %s", shapes[i][0], shapes[i][1], error);
        cr_assert(a.count == 0 && a.data && a.shape[0] == shapes[i][0] &&
                      a.shape[1] == shapes[i][1],
                  "(%zu, %zu) came back different", shapes[i][0], shapes[i][1]);
        npy_free(&a);
    }
}

Test(npy, what_else_is_read) {
    static const struct {
        int version;
        const char *dict;
        char type;
        size_t data;
    } files[] = {
        {1, DICT("<f4", "False", "(2, 3)"), 'f', 24},
        {2, DICT("<f4", "False", "(2, 3)"), 'f', 24},
        {3, DICT("<f4", "False", "(2, 3)"), 'f', 24},
        {1, DICT("=f8", "False", "(2, 3)"), 'd', 48},
        {1, DICT("|f2", "False", "(2, 3)"), 'e', 12},
        {1, "{\"shape\":(2L,3L,),\"descr\":\"<f4\",\"fortran_order\":False}", 'f', 24},
        {1, "  {  'fortran_order' :False , 'shape' :( 2 ,\n3 ) ,'descr': '<f4' }  \t\n", 'f', 24},
    };
    unsigned char bytes[512];
    char error[512] = "";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        npy a;
        spill(bytes, compose(bytes, files[i].version, files[i].dict, files[i].data));
        cr_assert(npy_read(path, &a, error, sizeof error), "%s: %s", files[i].dict, error);
        bool ok = a.type == files[i].type && a.rank == 2 && a.shape[0] == 2 && a.shape[1] == 3 &&
                  a.count == 6 && ((unsigned char *)a.data)[files[i].data - 1] == files[i].data - 1;
        cr_assert(ok, "version %d, %s was misread", files[i].version, files[i].dict);
        npy_free(&a);
    }
}

/* A message names the file, says what was wrong, and the array is left empty. */
static void expect_refusal(const char *what, const char *says) {
    char error[512] = "";
    npy a;
    memset(&a, 0x5a, sizeof a);
    bool read = npy_read(path, &a, error, sizeof error);
    cr_assert(!read, "%s was read", what);
    cr_assert(!a.data && !a.count && !a.rank, "%s: refused, but the array is not empty", what);
    cr_assert(strstr(error, path) == error, "%s: the message does not begin with the file: %s",
              what, error);
    cr_assert(strstr(error, says), "%s: the message should say '%s': %s", what, says, error);
}

Test(npy, broken_files) {
    static const struct {
        const char *dict;
        size_t data;
        const char *says;
    } files[] = {
        {DICT("<f4", "True", "(2, 3)"), 24, "Fortran"},
        {DICT(">f4", "False", "(2, 3)"), 24, "big-endian"},
        {DICT("<i4", "False", "(2, 3)"), 24, "'<i4'; only floats"},
        {DICT("<c8", "False", "(2, 3)"), 48, "'<c8'; only floats"},
        {DICT("|O", "False", "(2, 3)"), 24, "'|O'; only floats"},
        {DICT("|b1", "False", "(2, 3)"), 6, "'|b1'; only floats"},
        {DICT("<V2", "False", "(2, 3)"), 12, "'<V2'; only floats"},
        {DICT("<f16", "False", "(2, 3)"), 96, "'<f16'; only floats"},
        {DICT("f4", "False", "(2, 3)"), 24, "only floats"},
        {DICT("", "False", "(2, 3)"), 24, "only floats"},
        {DICT("<f4\033[2J", "False", "(2, 3)"), 24, "'<f4?[2J'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", 12, "each field"},
        {DICT("<f4", "False", "(1,1,1,1,1,1,1,1,1)"), 4, "9 axes"},
        {DICT("<f4", "False", "(4294967296, 4294967296)"), 24, "more elements than memory"},
        {DICT("<f4", "False", "(4611686018427387904,)"), 24, "more elements than memory"},
        {DICT("<f4", "False", "(0, 4294967296, 4294967296)"), 0, "more elements than memory"},
        {DICT("<f4", "False", "(99999999999999999999999,)"), 24, "more elements than memory"},
        {DICT("<f4", "False", "(2, 3)"), 23, "promises 24 bytes of data and holds 23"},
        {DICT("<f4", "False", "(2, 3)"), 0, "promises 24 bytes of data and holds 0"},
        {DICT("<f4", "False", "(1099511627776,)"), 24, "promises 4398046511104 bytes"},
        {DICT("<f4", "False", "(2, 3)"), 25, "goes on after the 24 bytes"},
        {DICT("<f4", "False", "(2, -3)"), 24, "malformed"},
        {DICT("<f4", "False", "(3)"), 12, "malformed"},
        {DICT("<f4", "False", "(,)"), 12, "malformed"},
        {DICT("<f4", "False", "(2,,3)"), 24, "malformed"},
        {DICT("<f4", "False", "[2, 3]"), 24, "malformed"},
        {DICT("<f4", "False", "(2, 3"), 24, "malformed"},
        {DICT("<f4", "Maybe", "(2, 3)"), 24, "malformed"},
        {DICT("<f4", "", "(2, 3)"), 24, "malformed"},
        {DICT("<f4", "Falsehood", "(2, 3)"), 24, "malformed"},
        {DICT("<f4", "False", "(2, 3)") " # or so", 24, "malformed"},
        {"{'descr': '<f4', 'fortran_order': False, }", 24, "malformed"},
        {"{'descr': '<f4', 'shape': (2, 3), }", 24, "malformed"},
        {"{'fortran_order': False, 'shape': (2, 3), }", 24, "malformed"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", 24,
         "malformed"},
        {"{'shape': (6,), 'shape': (6,), 'descr': '<f4', 'fortran_order': False}", 24, "malformed"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'more': 1}", 24, "malformed"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}", 24, "malformed"},
        {"{'descr': '<f4", 24, "malformed"},
        {"{'descr': 'a type whose name is longer than any that numpy has'}", 24, "malformed"},
        {"{}", 24, "malformed"},
        {"", 24, "malformed"},
        {"print('hello')", 24, "malformed"},
    };
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        spill(bytes, compose(bytes, 1, files[i].dict, files[i].data));
        expect_refusal(files[i].dict, files[i].says);
    }
}

Test(npy, broken_beginnings) {
    static const char good[] = DICT("<f4", "False", "(2, 3)");
    unsigned char bytes[512];
    size_t size = compose(bytes, 1, good, 24);
    remove(path);
    expect_refusal("a missing file", "No such file");
    cr_assert(mkdir(path, 0700) == 0);
    expect_refusal("a directory", "is a directory");
    cr_assert(rmdir(path) == 0);
    spill("", 0);
    expect_refusal("an empty file", "not a .npy file");
    spill("PK\003\004 and so on", 15);
    expect_refusal("an .npz", "not a .npy file");
    static const struct {
        size_t at;
        unsigned char byte;
        const char *says;
    } changes[] = {{0, 'x', "not a .npy file"},
                   {6, 0, "version 0.0"},
                   {6, 4, "version 4.0"},
                   {7, 1, "version 1.1"},
                   {9, 0xff, "header of 65"},
                   {9, 0x20, "ends within its header"},
                   {8, sizeof good + 10, "malformed"},
                   {20, '\0', "malformed"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char what[64];
        unsigned char before = bytes[changes[i].at];
        bytes[changes[i].at] = changes[i].byte;
        spill(bytes, size);
        bytes[changes[i].at] = before;
        snprintf(what, sizeof what, "byte %zu made %d", changes[i].at, changes[i].byte);
        expect_refusal(what, changes[i].says);
    }
    compose(bytes, 2, good, 24);
    memset(bytes + 8, 0xff, 4);
    spill(bytes, size);
    expect_refusal("a header of 4 GiB", "header of 4294967295 bytes");
}

/* A truncated file is refused wherever it was cut. A changed byte of the header may still leave a
 * good file, if it asks for the data that are there. */
Test(npy, every_cut_and_every_changed_byte) {
    for (int version = 1; version <= 3; version += 2) {
        unsigned char bytes[256];
        char error[512], what[64];
        size_t size = compose(bytes, version, DICT("<f4", "False", "(2, 3)"), 24);
        for (size_t cut = 0; cut < size; cut++) {
            spill(bytes, cut);
            snprintf(what, sizeof what, "version %d cut to %zu bytes", version, cut);
            expect_refusal(what, "");
        }
        spill(bytes, size);
        int read = 0, fd = open(path, O_WRONLY);
        for (size_t at = 0; at < size - 24; at++) {
            const unsigned char before = bytes[at];
            for (int byte = 0; byte < 256; byte++) {
                unsigned char changed = (unsigned char)byte;
                cr_assert(pwrite(fd, &changed, 1, (off_t)at) == 1, "cannot change %s", path);
                npy a;
                bool ok = npy_read(path, &a, error, sizeof error);
                size_t width = a.type == 'e' ? 2 : a.type == 'f' ? 4 : 8, count = 1;
                for (size_t i = 0; i < a.rank && i < NPY_RANK_MOST; i++) count *= a.shape[i];
                bool good = ok ? a.data && a.count == count && count * width == 24 &&
                                     memcmp(a.data, bytes + size - 24, 24) == 0
                               : !a.data && strstr(error, path) == error;
                read += ok;
                cr_assert(good, "version %d, byte %zu made %d: read %d, type %c, %zu elements: %s",
                          version, at, byte, ok, a.type, a.count, error);
                npy_free(&a);
            }
            cr_assert(pwrite(fd, &before, 1, (off_t)at) == 1, "cannot change %s", path);
        }
        close(fd);
        cr_assert(read >= (int)(size - 24) && read < 1000, "%d changed files were read", read);
    }
}

/* A pipe's size is not known beforehand, so only malloc can say no. */
Test(npy, out_of_memory_and_pipes) {
    static const char *const dicts[] = {DICT("<f8", "False", "(576460752303423488,)"),
                                        DICT("<f4", "False", "(2, 3)"),
                                        DICT("<f4", "False", "(2, 4)")};
    static const char *const says[] = {"out of memory", NULL, "ends within its data"};
    unsigned char bytes[256];
    for (int i = 0; i < 3; i++) {
        int ends[2];
        size_t size = compose(bytes, 1, dicts[i], 24);
        cr_assert(pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size);
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        if (says[i]) {
            expect_refusal(dicts[i], says[i]);
        } else {
            char error[512] = "";
            npy a;
            cr_assert(npy_read(path, &a, error, sizeof error), "%s", error);
            npy_free(&a);
        }
        close(ends[0]);
    }
}

static const float six[] = {1, 2, 3, 4, 5, 6};
static const size_t two_by_three[] = {2, 3};

static void expect_unwritten(const char *target, const char *says) {
    char error[512] = "";
    int before = entries(false);
    bool wrote = npy_write(target, 'f', 2, two_by_three, six, error, sizeof error);
    cr_assert(!wrote, "%s was written", target);
    cr_assert(strstr(error, target) == error && strstr(error, says),
              "%s: the message should say '%s': %s", target, says, error);
    cr_assert(entries(false) == before, "%s: a file was left behind", target);
}

Test(npy, targets_that_cannot_be_written) {
    char target[600], error[512];
    snprintf(target, sizeof target, "%s/no such folder/a.npy", folder);
    expect_unwritten(target, "No such file");
    expect_unwritten(folder, "not a regular file");
    struct stat st;
    snprintf(target, sizeof target, "%s/pipe", folder);
    cr_assert(mkfifo(target, 0600) == 0);
    expect_unwritten(target, "not a regular file");
    cr_assert(stat(target, &st) == 0 && S_ISFIFO(st.st_mode), "a pipe was replaced");
    size_t huge[] = {SIZE_MAX, 2}, nine[9] = {1};
    cr_assert(!npy_write(path, 'f', 2, huge, six, error, sizeof error), "an overflowing shape");
    cr_assert(!npy_write(path, 'i', 2, two_by_three, six, error, sizeof error), "type i");
    cr_assert(!npy_write(path, 'f', 9, nine, six, error, sizeof error), "rank 9");
    cr_assert(entries(false) == 1, "a refused array left a file behind");
}

/* The write fails half-way, at once or when what was buffered goes out: what was there before
 * stays, byte for byte. */
Test(npy, a_full_disk) {
    static float many[4096];
    static const size_t counts[] = {4096, 3};
    char error[512] = "";
    unsigned char before[4096], after[4096];
    cr_assert(npy_write(path, 'f', 2, two_by_three, six, error, sizeof error), "%s", error);
    size_t size = slurp(before, sizeof before);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        struct rlimit limit = {i ? 100 : 4096, RLIM_INFINITY};
        cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        bool wrote = npy_write(path, 'f', 1, &counts[i], many, error, sizeof error);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        cr_assert(!wrote && strstr(error, "File too large"), "%zu floats into a full disk: %s",
                  counts[i], error);
        cr_assert(slurp(after, sizeof after) == size && memcmp(before, after, size) == 0,
                  "%zu floats: the file that was there has changed", counts[i]);
        cr_assert(entries(false) == 1, "%zu floats: a half-written file was left", counts[i]);
    }
}

/* One of several fails: none appears. A symbolic link stays one, and a file keeps its mode. */
Test(npy, several_and_links) {
    char missing[600], link[600], error[512] = "";
    snprintf(missing, sizeof missing, "%s/no such folder/a.npy", folder);
    snprintf(link, sizeof link, "%s/link.npy", folder);
    npy a = {.type = 'f', .rank = 2, .shape = {2, 3}, .data = (void *)six};
    const npy both[] = {a, a};
    for (int i = 0; i < 2; i++) {
        const char *paths[] = {i ? missing : path, i ? path : missing};
        cr_assert(!npy_write_all(paths, both, 2, error, sizeof error), "written without a folder");
        cr_assert(strstr(error, missing) == error, "the message names another file: %s", error);
        cr_assert(entries(false) == 0, "one of two was written, the %s", i ? "second" : "first");
    }
    spill("old", 3);
    struct stat st;
    cr_assert(chmod(path, 0640) == 0 && symlink(path, link) == 0);
    cr_assert(npy_write(link, 'f', 2, two_by_three, six, error, sizeof error), "%s", error);
    cr_assert(lstat(link, &st) == 0 && S_ISLNK(st.st_mode), "the link was replaced");
    cr_assert(lstat(path, &st) == 0 && (st.st_mode & 0777) == 0640, "the mode has changed");
    cr_assert(npy_read(path, &a, error, sizeof error), "through a link: %s", error);
    npy_free(&a);
}
