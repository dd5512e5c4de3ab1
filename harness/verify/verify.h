/* Is an implementation right on a case? SPDX-License-Identifier: MIT */
#ifndef NL_VERIFY_H
#define NL_VERIFY_H

#include "verify/outputs.h"

/* Fills, calls and checks the outputs, surviving a call that reads or writes past its buffers. */
verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads);

/* The outputs of someone else's LayerNorm (NAME.y.npy), judged like a two-pass of ours. */
verdict verify_model(const nl_case *c, const nl_data *data, const answer *a);

#endif
