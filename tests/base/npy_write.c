/* Tests the .npy writer: its files can be read back, and a failed write leaves no incomplete file.
 * SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "folder.h"

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(npy_write, .init = enter_npy, .fini = leave_folder);

static size_t read_back(void *bytes, size_t size) {
    FILE *f = fopen(path, "rb");
    cr_assert(f, "cannot read %s", path);
    size_t n = fread(bytes, 1, size, f);
    fclose(f);
    return n;
}

Test(npy_write, round_trips) {
    static const char letters[] = "efd";
    char error[512] = "";
    for (int t = 0; t < 3; t++) {
        for (size_t rank = 0; rank <= NPY_RANK_MAX; rank++) {
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
            cr_assert(ok, "type %c, rank %zu: the data read back differ", letters[t], rank);
            size_t size = read_back(file, sizeof file), header = size - count * width;
            cr_assert(header % 64 == 0 && file[header - 1] == '\n' && file[6] == 1,
                      "rank %zu: the data begin at byte %zu, not at a multiple of 64", rank,
                      header);
            npy_free(&a);
        }
    }
    cr_assert(entries(false) == 1, "a temporary file was left behind");
}

Test(npy_write, empty_arrays) {
    static const size_t shapes[][2] = {{0, 4}, {4, 0}, {0, 0}, {0, (size_t)1 << 40}};
    char error[512];
    for (size_t i = 0; i < 4; i++) {
        npy a;
        bool ok = npy_write(path, 'f', 2, shapes[i], NULL, error, sizeof error) &&
                  npy_read(path, &a, error, sizeof error);
        cr_assert(ok, "(%zu, %zu): %s", shapes[i][0], shapes[i][1], error);
        cr_assert(a.count == 0 && a.data && a.shape[0] == shapes[i][0] &&
                      a.shape[1] == shapes[i][1],
                  "(%zu, %zu): the data read back differ", shapes[i][0], shapes[i][1]);
        npy_free(&a);
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

Test(npy_write, targets_that_cannot_be_written) {
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

/* If a write fails, at once or when the buffer is flushed, the old file stays, byte for byte. */
Test(npy_write, a_full_disk) {
    static float many[4096];
    static const size_t counts[] = {4096, 3};
    char error[512] = "";
    unsigned char before[4096], after[4096];
    cr_assert(npy_write(path, 'f', 2, two_by_three, six, error, sizeof error), "%s", error);
    size_t size = read_back(before, sizeof before);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        struct rlimit limit = {i ? 100 : 4096, RLIM_INFINITY};
        cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        bool wrote = npy_write(path, 'f', 1, &counts[i], many, error, sizeof error);
        limit.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &limit);
        cr_assert(!wrote && strstr(error, "File too large"), "%zu floats into a full disk: %s",
                  counts[i], error);
        cr_assert(read_back(after, sizeof after) == size && memcmp(before, after, size) == 0,
                  "%zu floats: the file that was there has changed", counts[i]);
        cr_assert(entries(false) == 1, "%zu floats: a half-written file was left", counts[i]);
    }
}

/* If one of several files cannot be written, none is. Links stay links; files keep their mode. */
Test(npy_write, several_and_links) {
    char missing[600], link[600], error[512] = "";
    snprintf(missing, sizeof missing, "%s/no such folder/a.npy", folder);
    snprintf(link, sizeof link, "%s/link.npy", folder);
    npy a = {.type = 'f', .shape = {2, 3}, .data = (void *)six};
    const npy both[] = {a, a};
    for (int i = 0; i < 2; i++) {
        const char *paths[] = {i ? missing : path, i ? path : missing};
        cr_assert(!npy_write_all(paths, both, 2, error, sizeof error), "written without a folder");
        cr_assert(strstr(error, missing) == error, "the message names another file: %s", error);
        cr_assert(entries(false) == 0, "only the %s file was written", i ? "second" : "first");
    }
    spill(path, "old", 3);
    struct stat st;
    cr_assert(chmod(path, 0640) == 0 && symlink(path, link) == 0);
    cr_assert(npy_write(link, 'f', 2, two_by_three, six, error, sizeof error), "%s", error);
    cr_assert(lstat(link, &st) == 0 && S_ISLNK(st.st_mode), "the link was replaced");
    cr_assert(lstat(path, &st) == 0 && (st.st_mode & 0777) == 0640, "the mode has changed");
    cr_assert(npy_read(path, &a, error, sizeof error), "through a link: %s", error);
    npy_free(&a);
}
