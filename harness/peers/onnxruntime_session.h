/* Models of one node, made by ONNX Runtime's model editor, each in a session that is kept.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "layer.h"

/* Loads ONNX Runtime, and returns its version; NULL: not there, with a note. note shows messages,
 * now and whenever a call fails. */
const char *onnxruntime_start(void (*note)(const char *text));

/* A tensor of the model: inputs come before outputs. */
typedef struct part {
    const char *name;
    nl_extent extent;
    bool output;
    const void *at;
} part;

enum { PARTS = 8 };

/* Runs the layer on those parts that have an address: tensors and parameters in the type of the
 * problem. The first call of a problem makes the session, in verification, which is not timed. A
 * failing call leaves the outputs unchanged, which the harness detects. */
bool run_parts(const nl_problem *p, const part *parts, int count, int threads);
