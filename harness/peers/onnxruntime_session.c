/* SPDX-License-Identifier: MIT */
#include "peers/onnxruntime_session.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const OrtApi *ort;
static const OrtModelEditorApi *editor;
static OrtEnv *env;
static OrtMemoryInfo *memory;
static void (*note)(const char *text);

static bool good(OrtStatus *status) {
    char text[300];
    if (!status) return true;
    snprintf(text, sizeof text, "ONNX Runtime: %s", ort->GetErrorMessage(status));
    ort->ReleaseStatus(status);
    note(text);
    return false;
}

enum { PLANS = 16 };

/* Counts the forks before this process. A child lacks the threads of its parent's sessions, so it
 * must neither run nor release a session of an earlier generation: both wait for these threads. */
static int generation;

static void count_child(void) {
    generation++;
}

/* A session, and the key for which it was made. */
typedef struct plan {
    nl_problem p;
    int threads, count; /* count: number of parts */
    int generation;
    OrtSession *session;
    const char *names[PARTS];
    const void *at[PARTS];
    OrtValue *values[PARTS];
} plan;

static ONNXTensorElementDataType type_of(const nl_problem *p, nl_extent extent) {
    if (extent != NL_TENSOR && extent != NL_PARAMETERS) return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    switch (p->dtype) {
    case NL_F32: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case NL_F16: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case NL_BF16: return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
    }
    __builtin_unreachable();
}

/* Writes the shape and returns the rank. The statistics of n rows have the shape [n][1]. */
static size_t shape_of(const nl_problem *p, nl_extent extent, int64_t shape[3]) {
    const int64_t n = (int64_t)p->n, c = (int64_t)p->c, s = (int64_t)p->s;
    if (extent == NL_FEATURES || extent == NL_PARAMETERS) return shape[0] = c, 1;
    shape[0] = n, shape[1] = extent == NL_GROUPS ? 1 : c, shape[2] = s;
    return extent == NL_TENSOR && s > 1 ? 3 : 2;
}

static bool describe(const nl_problem *p, const part *t, OrtValueInfo **out) {
    OrtTensorTypeAndShapeInfo *tensor = NULL;
    OrtTypeInfo *type = NULL;
    int64_t shape[3];
    const size_t rank = shape_of(p, t->extent, shape);
    bool ok = good(ort->CreateTensorTypeAndShapeInfo(&tensor)) &&
              good(ort->SetTensorElementType(tensor, type_of(p, t->extent))) &&
              good(ort->SetDimensions(tensor, shape, rank)) &&
              good(editor->CreateTensorTypeInfo(tensor, &type)) &&
              good(editor->CreateValueInfo(t->name, type, out));
    if (type) ort->ReleaseTypeInfo(type);
    if (tensor) ort->ReleaseTensorTypeAndShapeInfo(tensor);
    return ok;
}

static bool add_node(plan *k, const part *parts, int inputs, OrtGraph *graph) {
    static const char *const names[NL_OPS] = {[NL_BATCHNORM] = "BatchNormalization",
                                              [NL_LAYERNORM] = "LayerNormalization",
                                              [NL_RMSNORM] = "SimplifiedLayerNormalization"};
    const int64_t axis = -1;
    const int outputs = k->count - inputs, attributes = k->p.op == NL_BATCHNORM ? 1 : 2;
    OrtValueInfo *infos[PARTS] = {0};
    OrtOpAttr *attribute[2] = {0};
    OrtNode *node = NULL;
    for (int i = 0; i < k->count; i++)
        if (!describe(&k->p, &parts[i], &infos[i])) return false;
    return good(ort->CreateOpAttr("epsilon", &k->p.eps, 1, ORT_OP_ATTR_FLOAT, &attribute[0])) &&
           good(ort->CreateOpAttr("axis", &axis, 1, ORT_OP_ATTR_INT, &attribute[1])) &&
           good(editor->CreateNode(names[k->p.op], "", "norm", k->names, (size_t)inputs,
                                   k->names + inputs, (size_t)outputs, attribute,
                                   (size_t)attributes, &node)) &&
           good(editor->SetGraphInputs(graph, infos, (size_t)inputs)) &&
           good(editor->SetGraphOutputs(graph, infos + inputs, (size_t)outputs)) &&
           good(editor->AddNodeToGraph(graph, node));
}

static bool make_session(plan *k, const part *parts, int inputs) {
    static const char *const domain = "";
    static const int opset = 17;
    OrtSessionOptions *options = NULL;
    OrtModel *model = NULL;
    OrtGraph *graph = NULL;
    /* Without this setting, ONNX Runtime's threads would spin while the next candidate is timed. */
    bool ok = good(ort->CreateSessionOptions(&options)) &&
              good(ort->SetIntraOpNumThreads(options, k->threads)) &&
              good(ort->AddSessionConfigEntry(options, "session.force_spinning_stop", "1")) &&
              good(editor->CreateGraph(&graph)) && add_node(k, parts, inputs, graph) &&
              good(editor->CreateModel(&domain, &opset, 1, &model)) &&
              good(editor->AddGraphToModel(model, graph)) &&
              good(editor->CreateSessionFromModel(env, model, options, &k->session));
    if (model) ort->ReleaseModel(model);
    if (options) ort->ReleaseSessionOptions(options);
    return ok;
}

static bool is_for(const plan *k, const nl_problem *p, const part *parts, int count, int threads) {
    bool same = k->session && k->generation == generation && k->p.op == p->op &&
                k->p.dtype == p->dtype && k->p.n == p->n && k->p.c == p->c && k->p.s == p->s &&
                k->p.eps == p->eps && k->threads == threads && k->count == count;
    for (int i = 0; same && i < count; i++) same = strcmp(k->names[i], parts[i].name) == 0;
    return same;
}

/* The cached plan of a problem. The first call, in verification (not timed), makes the session. */
static plan *find_plan(const nl_problem *p, const part *parts, int inputs, int count, int threads) {
    static plan plans[PLANS];
    static size_t next;
    for (plan *k = plans; k < plans + PLANS; k++)
        if (is_for(k, p, parts, count, threads)) return k;
    plan *k = &plans[next++ % PLANS];
    for (int i = 0; i < PARTS; i++)
        if (k->values[i]) ort->ReleaseValue(k->values[i]);
    if (k->session && k->generation == generation) ort->ReleaseSession(k->session);
    *k = (plan){.p = *p, .threads = threads, .count = count, .generation = generation};
    for (int i = 0; i < count; i++) k->names[i] = parts[i].name;
    return make_session(k, parts, inputs) ? k : NULL;
}

static bool hand_over(plan *k, int i, const part *t) {
    int64_t shape[3];
    const size_t rank = shape_of(&k->p, t->extent, shape), bytes = nl_bytes(&k->p, t->extent);
    if (k->at[i] == t->at) return true;
    if (k->values[i]) ort->ReleaseValue(k->values[i]);
    k->values[i] = NULL, k->at[i] = t->at;
    return good(ort->CreateTensorWithDataAsOrtValue(memory, (void *)t->at, bytes, shape, rank,
                                                    type_of(&k->p, t->extent), &k->values[i]));
}

bool run_parts(const nl_problem *p, const part *all, int most, int threads) {
    part parts[PARTS];
    int count = 0, inputs = 0;
    for (int i = 0; i < most; i++)
        if (all[i].at) parts[count++] = all[i], inputs += !all[i].output;
    plan *k = find_plan(p, parts, inputs, count, threads);
    bool ok = k;
    for (int i = 0; ok && i < count; i++) ok = hand_over(k, i, &parts[i]);
    return ok && good(ort->Run(k->session, NULL, k->names, (const OrtValue *const *)k->values,
                               (size_t)inputs, k->names + inputs, (size_t)(count - inputs),
                               k->values + inputs));
}

const char *onnxruntime_start(void (*for_people)(const char *text)) {
    char why[400];
    note = for_people;
    void *library = dlopen(NL_ONNXRUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const OrtApiBase *(*base)(void) =
        library ? (const OrtApiBase *(*)(void))dlsym(library, "OrtGetApiBase") : NULL;
    ort = base ? base()->GetApi(ORT_API_VERSION) : NULL;
    editor = ort ? ort->GetModelEditorApi() : NULL;
    if (editor && good(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "normlab", &env)) &&
        good(ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory)) &&
        pthread_atfork(NULL, NULL, count_child) == 0)
        return base()->GetVersionString();
    snprintf(why, sizeof why, "normlab: ONNX Runtime is left out%s%s", base ? "" : ": ",
             base ? "" : dlerror());
    note(why);
    return NULL;
}
