/* SPDX-License-Identifier: MIT */
#include "claims/claim.h"
#include "base/csv.h"

#include <math.h>

static void print_figure(FILE *out, const setting *s) {
    const figure *f = &s->f;
    if (*setting_why(s)) {
        fprintf(out, "%s", setting_why(s));
        return;
    }
    fprintf(out, "%.4g", f->value.median);
    if (f->rounds) fprintf(out, " [%.4g, %.4g]", f->value.low, f->value.high);
    if (f->rounds) fprintf(out, ", A/A +-%.2g", f->band);
    if (s->passes > 1) fprintf(out, ", %zu passes", s->passes);
}

static void print_predicate(FILE *out, const claim *c) {
    const predicate *p = &c->expected;
    if (p->low == p->high)
        fprintf(out, "= %.4g", p->low);
    else if (isinf(p->low) || isinf(p->high))
        fprintf(out, "%s %.4g", isinf(p->low) ? "<" : ">", isinf(p->low) ? p->high : p->low);
    else
        fprintf(out, "%.4g .. %.4g", p->low, p->high);
}

static void write_text(FILE *out, const claim *c) {
    char sentence[CLAIM_WORDS];
    const char *unit = c->q->unit;
    claim_sentence(c, sentence, sizeof sentence);
    fprintf(out, "\n%s: %s (%s)\n  %s: %s\n  %s%s%s%s ", c->name, c->text, c->source,
            claim_answer_name(claim_answer_of(c)), sentence, c->q->name, *unit ? " (" : "", unit,
            *unit ? ")" : "");
    print_predicate(out, c);
    fprintf(out, ", margin %.4g\n", c->margin);
    for (size_t i = 0; i < c->settings; i++) {
        const setting *s = &c->at[i];
        fprintf(out, "  %s %-19s %-13s %-34s ", i ? " " : ">",
                claim_outcome_name(claim_outcome_of(c, s)), s->how, s->tail);
        print_figure(out, s);
        fputc('\n', out);
    }
    if (*c->why) fprintf(out, "  %s\n", c->why);
}

static void number(FILE *out, double v) {
    csv_number(out, isfinite(v) ? v : NAN);
}

static void write_csv(FILE *out, const claim *c) {
    char sentence[CLAIM_WORDS], where[CLAIM_WHERE];
    claim_sentence(c, sentence, sizeof sentence);
    for (size_t i = 0; i < c->settings; i++) {
        const setting *s = &c->at[i];
        csv_text(out, c->name), csv_text(out, c->text), csv_text(out, c->source);
        fprintf(out, "%s,%s,", c->q->name, c->q->unit);
        number(out, c->expected.low), number(out, c->expected.high);
        fprintf(out, "%.6g,%.6g,%zu,", c->margin, c->share, i);
        csv_text(out, s->how), csv_text(out, s->tail);
        fprintf(out, "%s,", s->measured ? claim_verdict_name(s->verdict) : "NOT RUN");
        number(out, s->measured ? s->f.value.median : NAN);
        number(out, s->measured ? s->f.value.low : NAN),
            number(out, s->measured ? s->f.value.high : NAN);
        number(out, s->measured && s->f.rounds ? s->f.band : NAN);
        fprintf(out, "%zu,", s->f.rounds);
        csv_text(out, c->why), csv_text(out, setting_why(s));
        claim_where(c, s, where, sizeof where);
        fprintf(out, "%s,%s,", i ? "" : "first", claim_answer_name(claim_answer_of(c)));
        csv_text(out, sentence);
        csv_text(out, where);
        fprintf(out, "%s,%zu\n", claim_outcome_name(claim_outcome_of(c, s)),
                s->measured ? s->passes : 0);
    }
}

void claims_write_text(FILE *out, const claim *claims, size_t count) {
    for (size_t i = 0; i < count; i++) write_text(out, &claims[i]);
}

void claims_write_csv(FILE *out, const claim *claims, size_t count) {
    fprintf(out, "name,claim,source,quantity,unit,predicate_low,predicate_high,margin,share,"
                 "setting,how,case,verdict,value,low,high,aa_band,rounds,why,skipped,"
                 "first,answer,sentence,where,outcome,passes\n");
    for (size_t i = 0; i < count; i++) write_csv(out, &claims[i]);
}
