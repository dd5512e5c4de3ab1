/* The functions that the figures of the site call from JavaScript (library.js), and the tests from
 * C: cases, their data, implementations and the check of `normlab check`. One case is open at a
 * time. SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#ifdef __wasm__
#define WEB_API(name) __attribute__((export_name(#name)))
#else
#define WEB_API(name)
#endif

/* Buffers for the arguments and results of the functions below: "the numbers" and "the text". */
WEB_API(web_numbers) double *web_numbers(size_t count); /* at least `count`, or NULL */
WEB_API(web_text) char *web_text(void);                 /* of WEB_TEXT bytes */

enum { WEB_TEXT = 1 << 16 };

/* Opens the case that the text spells, and makes its data. Returns 0 on failure, and the reason as
 * the text. */
WEB_API(web_open) int web_open(void);

/* Is implementation number i compiled for plain C, and does it take the case? The text becomes its
 * name. Returns -1 if there is no number i. */
WEB_API(web_accepts) int web_accepts(int i);

/* web_get() copies an argument (an nl_arg) into the numbers: from the data or, after web_call(),
 * from the buffers of that call. web_put() copies the numbers into the data, rounded to the data's
 * type. Both return the count. */
WEB_API(web_get) int web_get(int arg);
WEB_API(web_put) int web_put(int arg);

/* Calls the implementation that the text names and checks its outputs. Returns an outcome
 * (verify.h); the first numbers become the largest error of y or dx, in units, and its bound.
 * Returns -1 if it was not called, and the reason as the text. */
WEB_API(web_call) int web_call(void);

/* Copies the reference's values into the numbers, as doubles. Returns the count. */
enum { WEB_XHAT, WEB_MEAN, WEB_VAR, WEB_RSTD, WEB_DX };
WEB_API(web_want) int web_want(int what);

/* After web_call(): the text becomes a hash of the bits of each output. All NaNs hash alike, since
 * neither C nor WebAssembly fixes their sign and payload. */
WEB_API(web_hash) void web_hash(void);

WEB_API(web_round) float web_round(int dtype, float v);
WEB_API(web_normal) double web_normal(int stream, int i);

/* Runs a stack of layers (models/network.h); norm -1 means none. The numbers become the rms of
 * the activations and of their gradients (layers + 1 numbers each) and of the weights' gradients
 * (layers numbers). Returns 0 if out of memory. */
WEB_API(web_network)
int web_network(int wiring, int norm, double stretch, int layers, int width, int rows);

/* web_interval() overwrites the first three numbers with low, median and high of the interval of
 * the first `count` numbers (base/stats.h). web_verdict() judges an interval of log ratios: a
 * `comparison`. */
WEB_API(web_interval) void web_interval(int count);
WEB_API(web_verdict)
int web_verdict(double low, double median, double high, double band, double margin);

/* Runs `normlab judge`; each line of the text is an argument. Returns the exit code. */
WEB_API(web_judge) int web_judge(void);
