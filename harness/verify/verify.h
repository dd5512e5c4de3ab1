/* Is an implementation right on a case? SPDX-License-Identifier: MIT */
#ifndef NL_VERIFY_H
#define NL_VERIFY_H

#include "verify/outputs.h"

/* Calls impl on fresh buffers and checks the outputs; survives accesses beside the buffers. */
verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads);

/* Checks the outputs of a call; caches the verdict on the last bits. */
verdict verify_result(const instance *in, const answer *a);

/* Checks the output of a model's own LayerNorm (NAME.y.npy) with the bound of two-pass. */
verdict verify_model(const nl_case *c, const nl_data *data, const answer *a);

#endif
