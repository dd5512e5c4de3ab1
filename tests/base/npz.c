/* .npz files: written and read back, and hostile ones refused with a message.
 * SPDX-License-Identifier: MIT */
#include "base/npz.h"
#include "folder.h"

static char error[512];

static void enter(void) {
    enter_folder("a.npz");
}

TestSuite(npz, .init = enter, .fini = leave_folder);

static float six[] = {1, 2, 3, 4, 5, 6};

/* Writes x of shape (2, 3) and an empty y; returns the file's bytes. */
static size_t write_two(unsigned char *bytes, size_t size) {
    static const char *const names[] = {"x", "y"};
    const npy both[] = {{.type = 'f', .shape = {2, 3}, .count = 6, .data = six},
                        {.type = 'E', .shape = {0}}};
    cr_assert(npz_write(path, names, both, 2, error, sizeof error), "%s", error);
    FILE *f = fopen(path, "rb");
    const size_t got = f ? fread(bytes, 1, size, f) : 0;
    cr_assert(f && fclose(f) == 0 && got > 0 && got < size);
    return got;
}

static bool read_named(const char *name, npy *a) {
    char named[400];
    snprintf(named, sizeof named, "%s:%s", path, name);
    return npy_read(named, a, error, sizeof error);
}

Test(npz, round_trip) {
    unsigned char bytes[2048];
    npy a;
    write_two(bytes, sizeof bytes);
    cr_assert(entries(false) == 1, "a temporary file was left behind");
    cr_assert(read_named("x", &a), "%s", error);
    cr_assert(a.type == 'f' && a.rank == 2 && a.shape[1] == 3 && !memcmp(a.data, six, sizeof six));
    npy_free(&a);
    cr_assert(read_named("y", &a), "%s", error);
    cr_assert(a.type == 'E' && a.rank == 1 && a.count == 0);
    npy_free(&a);
    cr_assert(!read_named("z", &a) && strstr(error, "has no array 'z'; it has x, y:"), "%s", error);
    cr_assert(!read_named("", &a) && !read_named("x.npy", &a) && !read_named("../x", &a));
    cr_assert(!npy_read(path, &a, error, sizeof error) && strstr(error, "has no array ''"));
}

Test(npz, checksum) {
    cr_assert_eq(npz_crc(0, "123456789", 9), 0xcbf43926);
    cr_assert_eq(npz_crc(npz_crc(0, "1234", 4), "56789", 5), 0xcbf43926);
}

/* An array that can be read is the one that was written: a checksum covers all of its bytes. */
Test(npz, every_cut_and_every_changed_byte) {
    unsigned char good[2048], bad[2048];
    npy a;
    int refused = 0;
    const size_t size = write_two(good, sizeof good);
    for (size_t i = 0; i < size; i++) {
        spill(path, good, i);
        cr_assert(!read_named("x", &a) && *error && !a.data, "cut to %zu bytes", i);
        static const unsigned char changes[] = {1, 0x80, 0xff};
        for (int k = 0; k < 3; k++) {
            memcpy(bad, good, size);
            bad[i] ^= changes[k];
            spill(path, bad, size);
            if (!read_named("x", &a)) {
                refused++;
                continue;
            }
            cr_assert(a.count == 6 && memcmp(a.data, six, sizeof six) == 0, "byte %zu", i);
            npy_free(&a);
        }
    }
    cr_assert(refused > 3 * 160, "%d", refused);
}

/* Changes of the directory's entry of x, of its end, and of the header before x. */
Test(npz, lies) {
    enum { ENTRY, END, HEADER };
    static const struct {
        int of, at, bytes;
        unsigned value;
        const char *says;
    } lies[] = {
        {ENTRY, 8, 2, 1, "encrypted"},
        {ENTRY, 10, 2, 8, "not numpy.savez_compressed"},
        {ENTRY, 10, 2, 93, "by a program for zips"},
        {ENTRY, 20, 4, 100, "two sizes"},
        {ENTRY, 24, 4, 1u << 31, "two sizes"},
        {ENTRY, 24, 4, ~0u, "beyond 4 GiB"},
        {ENTRY, 42, 4, ~0u, "beyond 4 GiB"},
        {ENTRY, 42, 4, 1u << 31, "a place without an array"},
        {ENTRY, 42, 4, 5, "a place without an array"},
        {ENTRY, 28, 2, 60000, "its directory is cut"},
        {ENTRY, 46, 1, 'y', "has no array 'x'; it has y, y"},
        {HEADER, 28, 2, 60000, "reaches into its directory"},
        {HEADER, 28, 2, 1, "another checksum"},
        {END, 4, 2, 1, "a part of a zip"},
        {END, 12, 4, 1u << 30, "a directory of 1073741824 bytes"},
        {END, 12, 4, 1u << 19, "beyond its end"},
        {END, 12, 4, 30, "its directory is cut"},
        {END, 16, 4, ~0u, "beyond 4 GiB"},
        {END, 16, 4, 1u << 31, "beyond its end"},
        {END, 20, 2, 1, "no directory"},
    };
    unsigned char good[2048], bad[2048];
    npy a;
    const size_t size = write_two(good, sizeof good);
    size_t entry = 0;
    while (memcmp(good + entry, "PK\1\2", 4) != 0) entry++;
    const size_t places[] = {[ENTRY] = entry, [END] = size - 22, [HEADER] = 0};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memcpy(bad, good, size);
        for (int k = 0; k < lies[i].bytes; k++)
            bad[places[lies[i].of] + (size_t)(lies[i].at + k)] =
                (unsigned char)(lies[i].value >> 8 * k);
        spill(path, bad, size);
        cr_assert(!read_named("x", &a), "lie %zu, %s, was believed", i, lies[i].says);
        cr_assert(strstr(error, lies[i].says), "lie %zu: should say '%s': %s", i, lies[i].says,
                  error);
    }
}

Test(npz, two_arrays_of_a_name) {
    static const char *const names[] = {"x", "x"};
    const npy both[] = {{.type = 'f', .shape = {6}, .count = 6, .data = six},
                        {.type = 'f', .shape = {6}, .count = 6, .data = six}};
    npy a;
    cr_assert(npz_write(path, names, both, 2, error, sizeof error), "%s", error);
    cr_assert(!read_named("x", &a) && strstr(error, "has 2 arrays 'x'"), "%s", error);
}

Test(npz, cannot_be_written) {
    static const char *const names[] = {"x"};
    npy one = {.type = 'f', .shape = {6}, .count = 6, .data = six};
    snprintf(path, sizeof path, "%s", folder);
    cr_assert(!npz_write(path, names, &one, 1, error, sizeof error));
    cr_assert(strstr(error, "not a regular file"), "%s", error);
    snprintf(path, sizeof path, "%s/none/a.npz", folder);
    cr_assert(!npz_write(path, names, &one, 1, error, sizeof error) &&
              strstr(error, "cannot write"));
    one.count = (size_t)1 << 31;
    cr_assert(!npz_write(path, names, &one, 1, error, sizeof error) && strstr(error, "4 GiB"));
    cr_assert_eq(entries(false), 0);
}
