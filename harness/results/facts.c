/* Compares the .machine.txt files of two result files. SPDX-License-Identifier: MIT */
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool facts_one_machine(const results *file, char why[200]) {
    static const char *const keys[] = {"cpu", "caches", "kernel"};
    bool known = false;
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        const char *value[2];
        for (int side = 0; side < 2; side++) {
            value[side] = results_fact(&file[side], keys[i]);
            if (!value[side])
                return snprintf(why, 200, "The machine of %c is not known (no %s in .machine.txt)",
                                "AB"[side], keys[i]),
                       false;
            const char *space = strrchr(value[side], ' ');
            if (i == 2 && space) value[side] = space + 1; /* "Linux 6.1.0 x86_64": the last word */
        }
        known |= i < 2 && strcmp(value[0], "unknown") != 0;
        if (strcmp(value[0], value[1]) != 0)
            used += (size_t)snprintf(why + used, 200 - used, "%s%s",
                                     used ? ", " : "The machines differ in ",
                                     i == 2 ? "architecture" : keys[i]);
    }
    if (!known) snprintf(why, 200, "Whether this is one machine is not known");
    return known && !used;
}

/* Does the file hold the fact too? Any two good findings of the doctor are equal. */
static bool holds(const results *file, const fact *f) {
    for (const fact *e = file->facts; e < file->facts + file->fact_count; e++) {
        if (strcmp(e->key, f->key) != 0) continue;
        if (strcmp(e->value, f->value) == 0) return true;
        if (strncmp(f->key, "doctor ", 7) == 0 && strncmp(f->value, "good ", 5) == 0 &&
            strncmp(e->value, "good ", 5) == 0)
            return true;
    }
    return false;
}

/* Prints one file's values of a key that the other file lacks. */
static void list_differing(FILE *out, const results *file, int side, const char *key) {
    for (size_t i = 0; i < file[side].fact_count; i++) {
        const fact *f = &file[side].facts[i];
        if (strcmp(f->key, key) == 0 && !holds(&file[!side], f))
            fprintf(out, "  %-18s %c: %s\n", key, side ? 'B' : 'A', f->value);
    }
}

char *facts_differing(const results *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int side = 0; out && side < 2; side++)
        for (size_t i = 0; i < file[side].fact_count; i++) {
            const fact *f = &file[side].facts[i];
            bool listed = strcmp(f->key, "date") == 0 || strcmp(f->key, "doctor") == 0 ||
                          (side && results_fact(file, f->key));
            for (const fact *e = file[side].facts; e < f && !listed; e++)
                listed = strcmp(e->key, f->key) == 0;
            if (listed) continue;
            list_differing(out, file, 0, f->key);
            list_differing(out, file, 1, f->key);
        }
    if (out) fclose(out);
    if (size > 0) return text;
    free(text);
    return NULL;
}
