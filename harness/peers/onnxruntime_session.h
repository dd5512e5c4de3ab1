/* Models with one node, made by ONNX Runtime's model editor. Each model has a cached session.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "layer.h"

/* Loads ONNX Runtime, and returns its version; NULL: not found. note() shows messages, now and
 * whenever a call fails. */
const char *onnxruntime_start(void (*note)(const char *text));

/* A tensor of the model: inputs come before outputs. */
typedef struct part {
    const char *name;
    nl_extent extent;
    bool output;
    const void *at;
} part;

enum { PARTS = 8 };

/* Runs the layer on the parts that have an address. Tensors and parameters have the type of the
 * problem. The first call of a problem, in verification (not timed), makes the session. A failing
 * call leaves the outputs unchanged, which the harness detects. */
bool run_parts(const nl_problem *p, const part *parts, int count, int threads);
