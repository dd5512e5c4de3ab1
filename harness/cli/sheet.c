/* SPDX-License-Identifier: MIT */
#include "cli/sheet.h"
#include "base/csv.h"
#include "cli/terminal.h"

#include <math.h>
#include <string.h>

typedef struct sheet {
    const char *name;
    const sheet_style *style;
    tally *total;
    bool shares; /* compares shares of the limit, not times */
    int width;   /* of the longest implementation's name */
    const char *heading;
} sheet;

static double measured(const sheet *s, const result *r) {
    return !r ? NAN : s->shares ? r->limit_pct : r->ns;
}

static const char *cell(const sheet *s, const result *r, char text[32]) {
    double v = measured(s, r);
    if (isnan(v)) return "-";
    if (!s->shares) return human_ns(v, text);
    return snprintf(text, 32, "%.4g %%", v), text;
}

static const char *word(const row_pair *p) {
    return p->refused ? "REFUSED" : comparison_name(p->verdict);
}

static void print_csv(const sheet *s, const row_pair *p) {
    const result *any = p->a ? p->a : p->b;
    csv_text(stdout, s->name);
    csv_text(stdout, any->spelling);
    csv_text(stdout, any->impl);
    csv_text(stdout, any->isa);
    printf("%d,%s,", any->threads, word(p));
    csv_text(stdout, p->why);
    printf("%s,", s->shares ? "limit_pct" : p->relative ? "ns over baseline" : "ns");
    const double numbers[] = {measured(s, p->a), measured(s, p->b),  exp(p->ratio.median),
                              exp(p->ratio.low), exp(p->ratio.high), expm1(p->band)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) csv_number(stdout, numbers[i]);
    printf("%.6g\n", expm1(s->style->margin));
}

static void print_row(sheet *s, const row_pair *p) {
    static const char *const paints[] = {"\033[32m", "\033[31m", "", "\033[33m", "\033[2m"};
    const char *paint = s->style->colour ? paints[p->refused ? NOT_RESOLVED + 1 : p->verdict] : "";
    const result *any = p->a ? p->a : p->b;
    char texts[2][32], r[32] = "-", interval[64] = "-", noise[32] = "-";
    if (!s->heading || strcmp(any->spelling, s->heading) != 0)
        printf("\n%s\n  %-*s %-7s %7s %9s %9s %7s %-16s %8s  %s\n", any->spelling, s->width,
               "implementation", "isa", "threads", s->shares ? "A, limit" : "A",
               s->shares ? "B, limit" : "B", s->shares ? "A/B" : "B/A", "interval", "band", "B is");
    s->heading = any->spelling;
    if (!p->refused) {
        snprintf(r, sizeof r, "%.3f", exp(p->ratio.median));
        snprintf(interval, sizeof interval, "[%.3f, %.3f]", exp(p->ratio.low), exp(p->ratio.high));
        snprintf(noise, sizeof noise, "%.2f %%", 100 * expm1(p->band));
    }
    printf("  %-*s %-7s %7d %9s %9s %7s %-16s %8s  %s%s%s%s%s\n", s->width, any->impl, any->isa,
           any->threads, cell(s, p->a, texts[0]), cell(s, p->b, texts[1]), r, interval, noise,
           paint, word(p), *paint ? "\033[0m" : "", *p->why ? ": " : "", p->why);
}

static void take_pair(void *context, const row_pair *p) {
    sheet *s = context;
    if (p->refused)
        s->total->refused++;
    else
        s->total->verdicts[p->verdict]++;
    s->total->no_band += p->no_band;
    if (s->style->csv)
        print_csv(s, p);
    else
        print_row(s, p);
}

void sheet_heading(void) {
    puts("file,case,impl,isa,threads,verdict,why,measure,a,b,ratio,ratio_low,ratio_high,band,"
         "margin");
}

void sheet_print(const char *name, const results file[2], bool shares, const sheet_style *style,
                 tally *total) {
    sheet s = {name, style, total, shares, (int)strlen("implementation"), NULL};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < file[side].count; i++) {
            int length = (int)strlen(file[side].rows[i].impl);
            if (length > s.width) s.width = length < 60 ? length : 60;
        }
    compare_results(file, shares, style->margin, take_pair, &s);
    if (!style->csv) putchar('\n');
}
