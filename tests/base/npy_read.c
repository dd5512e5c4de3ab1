/* Tests the .npy reader with good files and with all kinds of broken files.
 * SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "folder.h"

#include <fcntl.h>
#include <sys/stat.h>

/* With AddressSanitizer too, malloc must return NULL instead of ending the test. */
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

TestSuite(npy_read, .init = enter_npy, .fini = leave_folder);

/* Makes the bytes of a file: version, the given dict, a newline, then `data` bytes 0, 1, 2... */
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

Test(npy_read, what_else_is_read) {
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
        {1, DICT("|V2", "False", "(2, 3)"), 'E', 12},
        {1, "{\"shape\":(2L,3L,),\"descr\":\"<f4\",\"fortran_order\":False}", 'f', 24},
        {1, "  {  'fortran_order' :False , 'shape' :( 2 ,\n3 ) ,'descr': '<f4' }  \t\n", 'f', 24},
    };
    unsigned char bytes[512];
    char error[512] = "";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        npy a;
        spill(path, bytes, compose(bytes, files[i].version, files[i].dict, files[i].data));
        cr_assert(npy_read(path, &a, error, sizeof error), "%s: %s", files[i].dict, error);
        bool ok = a.type == files[i].type && a.rank == 2 && a.shape[0] == 2 && a.shape[1] == 3 &&
                  a.count == 6 && ((unsigned char *)a.data)[files[i].data - 1] == files[i].data - 1;
        cr_assert(ok, "version %d, %s was misread", files[i].version, files[i].dict);
        npy_free(&a);
    }
}

/* Asserts that the message names the file and contains `says`, and that the array is empty. */
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

Test(npy_read, broken_files) {
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
        {DICT("<V3", "False", "(2, 3)"), 18, "'<V3'; only floats"},
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
        {DICT("<f4", "False", "(2, 3)"), 23, "should hold 24 bytes of data, but holds 23"},
        {DICT("<f4", "False", "(2, 3)"), 0, "should hold 24 bytes of data, but holds 0"},
        {DICT("<f4", "False", "(1099511627776,)"), 24, "should hold 4398046511104 bytes"},
        {DICT("<f4", "False", "(2, 3)"), 25, "continues after the 24 bytes"},
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
        spill(path, bytes, compose(bytes, 1, files[i].dict, files[i].data));
        expect_refusal(files[i].dict, files[i].says);
    }
}

Test(npy_read, broken_beginnings) {
    static const char good[] = DICT("<f4", "False", "(2, 3)");
    unsigned char bytes[512];
    size_t size = compose(bytes, 1, good, 24);
    remove(path);
    expect_refusal("a missing file", "No such file");
    cr_assert(mkdir(path, 0700) == 0);
    expect_refusal("a directory", "is a directory");
    cr_assert(rmdir(path) == 0);
    spill(path, "", 0);
    expect_refusal("an empty file", "not a .npy file");
    spill(path, "PK\003\004 and so on", 15);
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
        spill(path, bytes, size);
        bytes[changes[i].at] = before;
        snprintf(what, sizeof what, "byte %zu made %d", changes[i].at, changes[i].byte);
        expect_refusal(what, changes[i].says);
    }
    compose(bytes, 2, good, 24);
    memset(bytes + 8, 0xff, 4);
    spill(path, bytes, size);
    expect_refusal("a header of 4 GiB", "header of 4294967295 bytes");
}

/* A truncated file is rejected. A header with a changed byte may be read if it fits the data. */
Test(npy_read, every_cut_and_every_changed_byte) {
    for (int version = 1; version <= 3; version += 2) {
        unsigned char bytes[256];
        char error[512], what[64];
        size_t size = compose(bytes, version, DICT("<f4", "False", "(2, 3)"), 24);
        for (size_t cut = 0; cut < size; cut++) {
            spill(path, bytes, cut);
            snprintf(what, sizeof what, "version %d cut to %zu bytes", version, cut);
            expect_refusal(what, "");
        }
        spill(path, bytes, size);
        int read = 0, fd = open(path, O_WRONLY);
        for (size_t at = 0; at < size - 24; at++) {
            const unsigned char before = bytes[at];
            for (int byte = 0; byte < 256; byte++) {
                unsigned char changed = (unsigned char)byte;
                cr_assert(pwrite(fd, &changed, 1, (off_t)at) == 1, "cannot change %s", path);
                npy a;
                bool ok = npy_read(path, &a, error, sizeof error);
                size_t width = a.type == 'e' ? 2 : a.type == 'f' ? 4 : 8, count = 1;
                for (size_t i = 0; i < a.rank && i < NPY_RANK_MAX; i++) count *= a.shape[i];
                bool good = ok ? a.data && a.count == count && count * width == 24 &&
                                     memcmp(a.data, bytes + size - 24, 24) == 0
                               : !a.data && strstr(error, path) == error;
                read += ok;
                cr_assert(good,
                          "version %d, byte %zu set to %d: read %d, type %c, %zu elements: %s",
                          version, at, byte, ok, a.type, a.count, error);
                npy_free(&a);
            }
            cr_assert(pwrite(fd, &before, 1, (off_t)at) == 1, "cannot change %s", path);
        }
        close(fd);
        cr_assert(read >= (int)(size - 24) && read < 1000, "%d changed files were read", read);
    }
}

/* The size of a pipe is unknown, so only malloc refuses a shape that is too large. */
Test(npy_read, out_of_memory_and_pipes) {
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
