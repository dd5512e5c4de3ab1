/* SPDX-License-Identifier: MIT */
#include "workbench/marks.h"

double marks_points(const marks *m) {
    double sum = 0;
    for (size_t i = 0; i < m->count; i++) sum += m->all[i].points;
    return sum;
}

double marks_most(const marks *m) {
    double sum = 0;
    for (size_t i = 0; i < m->count; i++) sum += m->all[i].most;
    return sum;
}

/* Writes the character at `at`, or ? for bytes that are no UTF-8. A kernel may have printed such
 * bytes, and readers of JSON and XML reject them. Returns the next character. */
static const char *put(FILE *out, const char *at) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*at;
    const int n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    unsigned point = n > 1 ? first & (0x7fu >> n) : first;
    int i = 1;
    for (; i < n && (at[i] & 0xc0) == 0x80; i++) point = point << 6 | (at[i] & 0x3fu);
    const bool good = n && i == n && first < 0xf8 && point >= least[n] && point < 0x110000 &&
                      point >> 11 != 0x1b && point >> 1 != 0x7fff;
    if (!good) return fputc('?', out), at + 1;
    fwrite(at, 1, (size_t)n, out);
    return at + n;
}

static void json(FILE *out, const char *text) {
    fputc('"', out);
    while (*text) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text++);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned char)*text++);
        else
            text = put(out, text);
    }
    fputc('"', out);
}

static void xml(FILE *out, const char *text) {
    while (*text) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text++);
        else if ((unsigned char)*text < ' ' && *text != '\n')
            fputc(' ', out), text++;
        else
            text = put(out, text);
    }
}

void marks_gradescope(const marks *m, FILE *out) {
    fprintf(out, "{\"score\": %.2f, \"output\": ", marks_points(m));
    json(out, m->title);
    fprintf(out, ", \"tests\": [");
    for (size_t i = 0; i < m->count; i++) {
        const mark *k = &m->all[i];
        fprintf(out, "%s\n  {\"name\": ", i ? "," : "");
        json(out, k->name);
        fprintf(out, ", \"score\": %.2f, \"max_score\": %.2f, \"status\": \"%s\", \"output\": ",
                k->points, k->most, k->right ? "passed" : "failed");
        json(out, k->text);
        fprintf(out, "}");
    }
    fprintf(out, "\n]}\n");
}

void marks_junit(const marks *m, FILE *out) {
    size_t failures = 0;
    for (size_t i = 0; i < m->count; i++) failures += !m->all[i].right;
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    xml(out, m->title);
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\">\n", m->count, failures);
    for (size_t i = 0; i < m->count; i++) {
        const mark *k = &m->all[i];
        fprintf(out, "  <testcase classname=\"");
        xml(out, m->file);
        fprintf(out, "\" name=\"");
        xml(out, k->name);
        fprintf(out, k->right ? "\"><system-out>" : "\"><failure message=\"%.2f of %.2f points\">",
                k->points, k->most);
        xml(out, k->text);
        fprintf(out, k->right ? "</system-out></testcase>\n" : "</failure></testcase>\n");
    }
    fprintf(out, "</testsuite>\n");
}
