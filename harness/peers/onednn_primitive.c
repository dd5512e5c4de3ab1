/* SPDX-License-Identifier: MIT */
#include "peers/onednn_primitive.h"
#include "layer.h"

#include <dnnl_debug.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static void (*note)(const char *text);

static bool good(dnnl_status_t status, const char *what) {
    if (status == dnnl_success) return true;
    char text[200];
    snprintf(text, sizeof text, "oneDNN cannot %s: %s", what, dnnl_status2str(status));
    note(text);
    return false;
}

bool onednn_start(void (*for_people)(const char *text)) {
    note = for_people;
    return good(dnnl_engine_create(&engine, dnnl_cpu, 0), "start") &&
           good(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "start a stream");
}

size_t plan_groups(const plan_key *w) {
    return nl_layers[w->op].by_channel ? w->c : w->n;
}

/* All parts have a plain layout. BatchNorm's [n][c] is one image of n pixels in NHWC, which oneDNN
 * computes faster than n images of one pixel. */
static dnnl_status_t describe_part(const plan_key *w, int layout, dnnl_memory_desc_t *out) {
    static const dnnl_data_type_t types[NL_DTYPES] =
        {[NL_F32] = dnnl_f32, [NL_F16] = dnnl_f16, [NL_BF16] = dnnl_bf16};
    dnnl_dim_t size = (dnnl_dim_t)(layout == PART_GROUPS ? plan_groups(w) : w->c);
    dnnl_dims_t vector = {size}, tensor = {(dnnl_dim_t)w->n, (dnnl_dim_t)w->c, (dnnl_dim_t)w->s};
    dnnl_dims_t image = {1, (dnnl_dim_t)w->c, (dnnl_dim_t)w->n, 1};
    bool pixels = nl_layers[w->op].by_channel && w->s == 1;
    if (layout == PART_GROUPS || layout == PART_CHANNELS)
        return dnnl_memory_desc_create_with_tag(out, 1, vector, dnnl_f32, dnnl_a);
    dnnl_data_type_t type = types[layout == PART_X ? w->from : w->to];
    if (pixels) return dnnl_memory_desc_create_with_tag(out, 4, image, type, dnnl_nhwc);
    return dnnl_memory_desc_create_with_tag(out, w->s == 1 ? 2 : 3, tensor, type,
                                            w->s == 1 ? dnnl_ab : dnnl_abc);
}

static dnnl_status_t describe(const plan_key *w, dnnl_primitive_desc_t *out) {
    dnnl_memory_desc_t x = NULL, y = NULL, stats = NULL;
    dnnl_primitive_desc_t hint = NULL;
    bool backward = w->pass == NL_BACKWARD, batch = nl_layers[w->op].by_channel;
    dnnl_prop_kind_t kind = backward ? dnnl_forward_training : w->kind;
    dnnl_status_t s = describe_part(w, PART_X, &x);
    if (!s) s = describe_part(w, PART_TENSOR, &y);
    if (!s) s = describe_part(w, PART_GROUPS, &stats);
    if (!s && batch)
        s = dnnl_batch_normalization_forward_primitive_desc_create(&hint, engine, kind, x, y,
                                                                   w->eps, w->flags, NULL);
    if (!s && !batch)
        s = dnnl_layer_normalization_forward_primitive_desc_create(&hint, engine, kind, x, y, stats,
                                                                   w->eps, w->flags, NULL);
    if (!s && !backward) *out = hint, hint = NULL;
    if (!s && backward && batch)
        s = dnnl_batch_normalization_backward_primitive_desc_create(out, engine, w->kind, y, y, x,
                                                                    w->eps, w->flags, hint, NULL);
    if (!s && backward && !batch)
        s = dnnl_layer_normalization_backward_primitive_desc_create(out, engine, w->kind, y, y, x,
                                                                    stats, w->eps, w->flags, hint,
                                                                    NULL);
    dnnl_primitive_desc_destroy(hint);
    dnnl_memory_desc_destroy(x), dnnl_memory_desc_destroy(y), dnnl_memory_desc_destroy(stats);
    return s;
}

const char *onednn_has(const plan_key *w, char name[64]) {
    dnnl_primitive_desc_t d;
    const char *theirs = "";
    if (describe(w, &d) != dnnl_success) return NULL;
    dnnl_primitive_desc_query(d, dnnl_query_impl_info_str, 0, &theirs);
    snprintf(name, 64, "%s", theirs);
    dnnl_primitive_desc_destroy(d);
    return name;
}

static void plan_free(plan *k) {
    for (int i = 0; i < k->count; i++) dnnl_memory_destroy(k->args[i].memory);
    dnnl_primitive_destroy(k->primitive);
    free(k->statistics[0]);
    free(k->x);
    *k = (plan){0};
}

static bool plan_make(const plan_key *w, plan *k) {
    dnnl_primitive_desc_t d = NULL;
    size_t groups = plan_groups(w);
    float *memory = malloc((2 * groups + 2 * w->c) * sizeof *memory);
    *k = (plan){.w = *w, .statistics = {memory, memory + groups}};
    k->ones = memory + 2 * groups, k->unwanted = k->ones + w->c;
    bool ok = memory && good(describe(w, &d), "do this layer") &&
              good(dnnl_primitive_create(&k->primitive, d), "create this layer");
    if (ok) dnnl_primitive_desc_query(d, dnnl_query_num_of_inputs_s32, 0, &k->inputs);
    dnnl_primitive_desc_destroy(d);
    if (!ok) return plan_free(k), false;
    for (size_t j = 0; j < w->c; j++) k->ones[j] = 1;
    return true;
}

plan *find_plan(const plan_key *w) {
    enum { MAX = 16 };
    static plan plans[MAX], *last = plans;
    static size_t next;
    if (last->primitive && memcmp(&last->w, w, sizeof *w) == 0) return last;
    for (plan *k = plans; k < plans + MAX; k++)
        if (k->primitive && memcmp(&k->w, w, sizeof *w) == 0) return last = k;
    last = &plans[next++ % MAX];
    plan_free(last);
    return plan_make(w, last) ? last : NULL;
}

/* A plan's first call creates the memory objects; later calls update the changed addresses. */
static bool set_part(plan *k, int i, const part *p) {
    dnnl_memory_desc_t d = NULL;
    void *at = (void *)p->at, *now = NULL;
    if (i < k->count) {
        dnnl_memory_get_data_handle(k->args[i].memory, &now);
        return now == at || good(dnnl_memory_set_data_handle(k->args[i].memory, at), "move memory");
    }
    bool ok = good(describe_part(&k->w, p->layout, &d), "describe memory") &&
              good(dnnl_memory_create(&k->args[i].memory, d, engine, at), "use memory");
    dnnl_memory_desc_destroy(d);
    if (ok) k->args[i].arg = p->name, k->count = i + 1;
    return ok;
}

bool run_plan(plan *k, const part *parts, size_t count) {
    int given = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].at && !set_part(k, given++, &parts[i])) return false;
    return good(dnnl_primitive_execute(k->primitive, stream, given, k->args), "run this layer") &&
           good(dnnl_stream_wait(stream), "finish this layer");
}
