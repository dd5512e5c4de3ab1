/* `normlab limit`: measures how fast this machine moves bytes, over a curve of sizes. One size for
 * each reported cache would not be enough: other virtual machines may share the caches.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/interrupt.h"
#include "platform/platform.h"
#include "timing/measure.h"
#include "timing/limit.h"
#include "cli/case_options.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char help[] =
    "normlab limit [options]\n\n"
    "Measures the machine's limit: the bandwidth of reads, writes and copies, with ordinary and\n"
    "with streaming stores, on one thread and on all. Working sets range from 8 KiB to twice the\n"
    "last-level cache, or to four times if it has at most 128 MiB. Each number is from the\n"
    "fastest of several methods (vectors, steps, prefetch; docs/measuring.md). A byte counts once\n"
    "for each read and once for each write of the program.\n\n"
    "  --threads N    measure with N threads and with one (all)\n"
    "  --seconds S    time for each point of each curve (0.1; with --quick 0.02)\n"
    "  --precision P  stop when each interval's half-width is below this fraction (0.01)\n"
    "  --out FILE.csv results as CSV; FILE.machine.txt: the machine's facts\n"
    "  --quick        short timing, and no more than twice the last-level cache\n\n"
    "Examples:\n"
    "  normlab limit\n"
    "  normlab limit --quick --threads 1 --out results/limit.csv\n";

static const struct pattern {
    const char *name, *store;
    int reads, writes;
    limit_store how;
} patterns[] = {{"read", "-", 1, 0, LIMIT_ORDINARY},
                {"write", "ordinary", 0, 1, LIMIT_ORDINARY},
                {"write", "streaming", 0, 1, LIMIT_STREAM},
                {"copy", "ordinary", 1, 1, LIMIT_ORDINARY},
                {"copy", "streaming", 1, 1, LIMIT_STREAM},
                {"2 reads 1 write", "ordinary", 2, 1, LIMIT_ORDINARY},
                {"2 reads 1 write", "streaming", 2, 1, LIMIT_STREAM}};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

typedef struct point {
    limit_job job;
    int threads;
} point;

static void call_move(void *context, size_t turn) {
    const point *p = context;
    (void)turn;
    limit_move(&p->job, p->threads);
}

static double try_way(void *context, limit_way way) {
    point *p = context;
    p->job.way = way;
    return measure_trial(&(measure_candidate){.call = call_move, .context = p}, clock_ns);
}

static void write_csv_rows(FILE *csv, size_t size, int threads, const measure *m) {
    for (size_t i = 0; csv && i < m->count; i++) {
        estimate e = measure_time(m, i);
        char way[64];
        const point *p = m->candidates[i].context;
        double bytes = (double)p->job.bytes * (p->job.reads + p->job.writes);
        fprintf(csv, "%zu,%d,%s,%s,%.6g,%.6g,%.6g,%zu,%s,%s\n", size, threads, patterns[i].name,
                patterns[i].store, bytes / e.median, isinf(e.high) ? 0 : bytes / e.high,
                e.low > 0 ? bytes / e.low : bytes / e.median, m->rounds, stopped_name(m->stopped),
                limit_way_name(p->job.way, way));
    }
}

/* Measures all patterns at one working set, the total size of a pattern's buffers. */
static bool measure_size(size_t size, int threads, const case_options *o, char *memory, size_t room,
                         FILE *csv, bool table) {
    point points[PATTERNS];
    measure_candidate candidates[PATTERNS];
    char text[32];
    for (int i = 0; i < PATTERNS; i++) {
        const struct pattern *t = &patterns[i];
        size_t each = size / (size_t)(t->reads + t->writes) / 512 * 512, step = room / 3;
        points[i] = (point){{.reads = t->reads, .writes = t->writes, .bytes = each}, threads};
        limit_job *j = &points[i].job;
        if (t->reads > 0) j->in[0] = memory;
        if (t->reads > 1) j->in[1] = memory + step;
        if (t->writes > 0) j->out[0] = memory + 2 * step;
        j->way = limit_choose(t->how, t->reads > 0, try_way, &points[i]);
        candidates[i] = (measure_candidate){.call = call_move, .context = &points[i]};
    }
    measure m = {.candidates = candidates,
                 .count = PATTERNS,
                 .baseline = 3,
                 .seed = size,
                 .clock = clock_ns,
                 .seconds = o->seconds * PATTERNS,
                 .precision = o->precision,
                 .interrupted = interrupted};
    if (!measure_run(&m)) return fprintf(stderr, "normlab: out of memory\n"), false;
    if (m.rounds > 0) write_csv_rows(csv, size, threads, &m);
    if (table && m.rounds > 0) {
        printf("%9s %7d", human_bytes(size, text), threads);
        for (int i = 0; i < PATTERNS; i++) {
            const limit_job *j = &points[i].job;
            printf(" %9.1f",
                   (double)j->bytes * (j->reads + j->writes) / measure_time(&m, (size_t)i).median);
        }
        putchar('\n');
        fflush(stdout);
    }
    measure_free(&m);
    return true;
}

static void heading(void) {
    printf("GB/s by working set; 2r1w: two reads, one write; s: streaming stores%s\n\n%9s %7s",
           has_streaming_stores() ? "" : " (this machine has no streaming stores)", "size",
           "threads");
    static const char *const names[] = {"read",   "write", "write s", "copy",
                                        "copy s", "2r1w",  "2r1w s"};
    for (int i = 0; i < PATTERNS; i++) printf(" %9s", names[i]);
    putchar('\n');
}

int cmd_limit(int argc, char **argv) {
    case_options o = {.threads = nl_max_threads(), .seconds = 0.1, .quick_seconds = 0.02};
    int code = case_options_read(argc, argv, help, &o);
    if (code >= 0) return cases_free(&o.cases), code;
    size_t last = last_cache_bytes(), room = 0;
    const size_t most = (o.quick || last > (size_t)128 << 20 ? 2 : 4) * last;
    for (size_t s = 8192; s <= most; s *= 2) room++;
    fprintf(stderr, "%zu sizes, %d curves, %d thread counts: about %.0f s\n", room, PATTERNS,
            o.threads > 1 ? 2 : 1,
            1.3 * (double)room * PATTERNS * o.seconds * (o.threads > 1 ? 2 : 1));
    interrupt_watch();
    /* Maps three buffers together, for equal page offsets; in huge pages if possible. */
    size_t page = (size_t)2 << 20;
    room = 3 * ((most + page - 1) / page * page);
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "normlab: no %zu bytes of memory\n", room);
        return NL_EXIT_USAGE;
    }
#ifdef MADV_HUGEPAGE
    madvise(memory, room, MADV_HUGEPAGE);
#endif
    memset(memory, 0, room); /* the first touch maps the pages; zeros avoid slow subnormals */
    FILE *csv;
    if (!report_file(&csv, o.out, o.quick)) return munmap(memory, room), NL_EXIT_USAGE;
    const bool table = o.out || !csv;
    if (csv)
        fprintf(csv, "size,threads,pattern,store,gbps,gbps_low,gbps_high,rounds,stopped,mover\n");
    if (table) heading();
    bool ok = true;
    for (int threads = 1; ok && threads <= o.threads; threads += o.threads > 1 ? o.threads - 1 : 1)
        for (size_t size = 8192; ok && size <= most && !interrupted(); size *= 2)
            ok = measure_size(size, threads, &o, memory, room, csv, table);
    munmap(memory, room);
    const bool written = report_written(csv, o.out);
    if (progress_interrupted()) return NL_EXIT_INTERRUPTED;
    return ok && written ? NL_EXIT_OK : NL_EXIT_FAILED;
}
