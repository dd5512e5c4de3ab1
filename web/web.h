/* What the figures of the site call, from JavaScript (web.js) and, in the tests, from C: cases, their
 * data, implementations and the check, as `normlab check` makes them. One case is open at a time.
 * SPDX-License-Identifier: MIT */
#ifndef NL_WEB_H
#define NL_WEB_H

#include <stddef.h>

#ifdef __wasm__
#define WEB_API(name) __attribute__((export_name(#name)))
#else
#define WEB_API(name)
#endif

/* Numbers and texts that the functions below take or leave. */
WEB_API(web_numbers) double *web_numbers(size_t count); /* at least so many; NULL: out of memory */
WEB_API(web_text) char *web_text(void);                 /* of WEB_TEXT bytes */

enum { WEB_TEXT = 1 << 16 };

/* Opens the case that the text spells, and makes its data. 0: the text says why not. */
WEB_API(web_open) int web_open(void);

/* Does the implementation number i take the case, and is it compiled for plain C? Its name becomes the text. -1: there is
 * none of that number. */
WEB_API(web_accepts) int web_accepts(int i);

/* Copies an argument of the case (an nl_arg) from the data, or after web_call() from the outputs, to the
 * numbers; or the numbers into the data, rounded to their type. They return the count. */
WEB_API(web_get) int web_get(int arg);
WEB_API(web_put) int web_put(int arg);

/* Calls the implementation that the text names and checks its outputs. Returns an outcome (outputs.h),
 * and leaves the largest error of y or dx, in units, and its bound as the first numbers; -1: the text says
 * why it was not called. */
WEB_API(web_call) int web_call(void);

/* What the reference expects, as doubles. They return the count. */
enum { WEB_XHAT, WEB_MEAN, WEB_VAR, WEB_RSTD, WEB_DX };
WEB_API(web_want) int web_want(int what);

/* After web_call(): the text is a hash of the bits of each output. Every NaN counts as the same one:
 * neither C nor WebAssembly fixes its sign and payload. */
WEB_API(web_hash) void web_hash(void);

WEB_API(web_round) float web_round(int dtype, float v);
WEB_API(web_normal) double web_normal(int stream, int i);

/* A stack of layers (models/network.h), norm -1: none. The numbers become the rms of the activations and
 * of their gradients, layers + 1 each, and of the weights' gradients, layers. 0: out of memory. */
WEB_API(web_network)
int web_network(int wiring, int norm, double stretch, int layers, int width, int rows);

/* The interval of the first `count` numbers, as low, median, high (base/stats.h); and the verdict on one
 * in log ratios. */
WEB_API(web_interval) void web_interval(int count);
WEB_API(web_verdict)
int web_verdict(double low, double median, double high, double band, double margin);

/* `normlab judge`: the text has its arguments, a line each. Returns the exit code. */
WEB_API(web_judge) int web_judge(void);

#endif
