/* The contract as dimensions: what a case may vary, and the classes of each (dimensions.inc).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case_list.h"

#include <stdint.h>

/* The layers and passes that share their dimensions. */
typedef enum family {
    FAMILY_ROW_FORWARD,
    FAMILY_ROW_BACKWARD,
    FAMILY_BATCH_FORWARD,
    FAMILY_BATCH_BACKWARD,
    FAMILY_INFERENCE,
    FAMILIES
} family;

/* Adds a case for each row of a covering array (covering.h), where any three classes that can meet
 * do. The rows, and the values within a class, depend on the seed. */
bool covering_cases(case_list *list, uint64_t seed, char *error, size_t error_size);

/* Adds the seed's case number `index`: each dimension gets a random class, often the default. */
bool drawn_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size);

/* As drawn_case(), but with one large size, 2^15 to 2^19 elements in all, and no values that hide
 * errors: options meet the sizes from which kernels take other branches. */
bool large_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size);

/* The widths of models. */
#define MODELS                                                                                   \
    "{768,1024,1152,1280,1536,1600,2048,2304,2560,2880,3072,3584,4096,4608,5120,6144,7168,8192," \
    "11008,12288,14336,16384}"

/* Adds each width of a model, and for BatchNorm each picture, with every class of every dimension,
 * since a kernel may be special-cased for one such pair. The other dimensions are drawn. */
bool model_cases(case_list *list, uint64_t seed, char *error, size_t error_size);
