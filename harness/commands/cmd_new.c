/* `normlab new LAYER NAME`: writes a first version of a kernel. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "layer.h"
#include "cli/options.h"
#include "commands/commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "normlab new LAYER NAME [options]\n\n"
    "Writes NAME.c, a kernel file with everything but the formula: the loops, the functions that\n"
    "read and write, NL_IMPL, and a header to fill in (idea, gain, fails). The file compiles and\n"
    "computes nothing; TODO marks what is left to do. Nothing is ever overwritten.\n\n"
    "  --pass PASS   forward (the default) or backward; batchnorm: also inference\n"
    "  --simd        a kernel with the vectors of optimized/vec/vec.h\n"
    "  --out FILE.c  instead of NAME.c in this folder\n\n"
    "Examples:\n"
    "  normlab new rmsnorm four_sums\n"
    "  normlab new layernorm mine --pass backward --simd\n"
    "  normlab new batchnorm mine --out batchnorm/mine.c\n"
    "  normlab try four_sums.c --watch\n";

/* The loop, and comments on the functions for its body: for rows and channels, forward and
 * backward. */
static const struct family {
    const char *loop; /* format with three %s: the layer's name, " + beta", xhat */
    const char *words, *vector_words;
} families[2][2] =
    {{{"NL_INLINE void %s(nl_view v) {\n"
       "    for (size_t r = 0; r < v.n; r++) {\n"
       "        nl_view row = nl_row(v, r);\n"
       "        (void)row;\n"
       "        /* TODO: y_i = gain_i * xhat_i%s, xhat = %s, i < v.c\n",
       "         *     nl_x(row, i)              x_i, with its residual\n"
       "         *     nl_put_y(row, i, xhat)    stores y_i, and residual_out_i if there is one\n"
       "         *     nl_keep(row, mean, rstd)  saves both for backward; no mean: pass 0\n",
       "         *     vload(v.t, row.x, i, k)   k elements; add those of row.residual, if any\n"
       "         *     vgain(v.gamma, v.plus_one, i, k)\n"
       "         *     vround(v.t, xhat)         before the gain, if v.cast_before_weight\n"
       "         *     vstore(v.t, row.y, i, k, y), and x to row.residual_out, if any\n"
       "         *     nl_keep(row, mean, rstd)  saves both for backward; no mean: pass 0\n"},
      {"NL_INLINE void %s(nl_backward_view v) {\n"
       "    for (size_t r = 0; r < v.n; r++) {\n"
       "        nl_backward_view row = nl_backward_row(v, r);\n"
       "        (void)row;\n"
       "        /* TODO: docs/backward.md, with g_i = gain_i * dy_i%s and xhat = %s, i < v.c\n",
       "         *     nl_load(v.t, row.x, i), nl_load(v.t, row.dy, i), nl_g(row, i)\n"
       "         *     *row.mean, *row.rstd      as forward saved them; no mean: row.mean is NULL\n"
       "         *     nl_put_dx(row, i, dx)     stores dx_i, with dresidual_i if there is one\n"
       "         *     v.dgamma[i], v.dbeta[i]   sums over the rows; NULL where not wanted;\n"
       "         *                               nl_clear_gradients(v) zeroes them\n",
       "         *     vload(v.t, row.x, i, k), vload(v.t, row.dy, i, k)\n"
       "         *     vgain(v.gamma, v.plus_one, i, k)\n"
       "         *     *row.mean, *row.rstd      as forward saved them; no mean: row.mean is NULL\n"
       "         *     vstore(v.t, row.dx, i, k, dx), with row.dresidual added, if any\n"
       "         *     v.dgamma[i], v.dbeta[i]   sums over the rows, NL_F32; NULL where not\n"
       "         *                               wanted; nl_clear_gradients(v) zeroes them\n"}},
     {{"NL_INLINE void %s(nl_view v) {\n"
       "    for (size_t j = 0; j < v.c; j++) {\n"
       "        /* TODO: y = gain_j * xhat%s, xhat = %s,\n"
       "         * at = nl_at(v, i, j, k), i < v.n, k < v.s\n",
       "         *     nl_x(v, at)               x\n"
       "         *     nl_put(v, at, j, xhat)    stores y\n",
       "         *     vload(v.t, v.x, at, few)  few elements along k\n"
       "         *     nl_gain(v.gamma, v.plus_one, j), and v.beta[j], if any\n"
       "         *     vround(v.t, xhat)         before the gain, if v.cast_before_weight\n"
       "         *     vstore(v.t, v.y, at, few, y)\n"},
      {"NL_INLINE void %s(nl_backward_view v) {\n"
       "    for (size_t j = 0; j < v.c; j++) {\n"
       "        /* TODO: docs/backward.md%s, with xhat = %s,\n"
       "         * at = (i * v.c + j) * v.s + k, i < v.n, k < v.s\n",
       "         *     nl_load(v.t, v.x, at), nl_load(v.t, v.dy, at)\n"
       "         *     v.mean[j], v.rstd[j]      as forward saved them\n"
       "         *     nl_gain(v.gamma, v.plus_one, j)\n"
       "         *     nl_store(v.t, v.dx, at, dx)\n"
       "         *     v.dgamma[j], v.dbeta[j]   sums over the channel; NULL where not wanted\n",
       "         *     vload(v.t, v.x, at, few), vload(v.t, v.dy, at, few)   few along k\n"
       "         *     v.mean[j], v.rstd[j]      as forward saved them\n"
       "         *     nl_gain(v.gamma, v.plus_one, j)\n"
       "         *     vstore(v.t, v.dx, at, few, dx)\n"
       "         *     v.dgamma[j], v.dbeta[j]   sums over the channel; NULL where not wanted\n"}}};

/* Writes a kernel that compiles and computes nothing. simd: it uses vec.h. */
static void stub_write(FILE *out, nl_op op, nl_pass pass, bool simd) {
    const nl_layer *layer = &nl_layers[op];
    const bool backward = pass == NL_BACKWARD;
    const struct family *f = &families[layer->by_channel][backward];
    const char *direction = backward ? "backward" : "forward";
    fprintf(out,
            "/* idea   TODO: what this kernel does differently, and why that is right.\n"
            " * gain   TODO: what that should save, compared with which rung.\n"
            " * fails  TODO: on which sizes or data it is slow, or less exact.\n"
            " * SPDX-License-Identifier: MIT */\n"
            "#include \"%s\"\n\n",
            simd ? "vec/vec.h" : "kernel.h");
    const char *xhat =
        layer->centred ? "(x - mean) / sqrt(var + eps)" : "x / sqrt(mean(x^2) + eps)";
    if (backward) xhat = layer->centred ? "(x - mean) * rstd" : "x * rstd";
    fprintf(out, f->loop, layer->name, layer->beta && !backward ? " + beta" : "", xhat);
    if (simd) fputs("         * in vectors (vec.h) of VLEN elements, fewer at the end:\n", out);
    fputs(simd ? f->vector_words : f->words, out);
    if (layer->by_channel && pass == NL_FORWARD)
        fputs("         *     nl_keep_channel(v, j, mean, var, rstd)   for backward and the "
              "running statistics\n",
              out);
    if (pass == NL_INFERENCE)
        fputs("         *     v.running_mean[j], v.running_var[j]      the statistics\n", out);
    fprintf(out,
            "         */\n"
            "    }\n"
            "}\n\n"
            "static void %s(const nl_problem *p, const nl_%s_args *a, int threads) {\n"
            "    (void)threads;\n"
            "    nl_%swith_type(p, a, %s);\n"
            "}\n\n"
            "NL_IMPL(.about = \"TODO: a description in one line\",\n"
            "        .ops = NL_BIT(NL_",
            direction, direction, backward ? "backward_" : "", layer->name);
    for (const char *c = layer->name; *c; c++) fputc(toupper((unsigned char)*c), out);
    fprintf(out,
            "), .passes = NL_BIT(NL_%s),\n"
            "        .dtypes = %s, .method = NL_TWO_PASS, .lanes = %s,\n"
            "        .%s = %s);\n",
            pass == NL_BACKWARD    ? "BACKWARD"
            : pass == NL_INFERENCE ? "INFERENCE"
                                   : "FORWARD",
            simd ? "NL_VEC_DTYPES" : "NL_ALL_DTYPES", simd ? "VLEN" : "1", direction, direction);
}

static bool good_name(const char *name) {
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' && name[0];
}

int cmd_new(int argc, char **argv) {
    const char *pass_text = "forward", *path = NULL;
    bool simd = false;
    const option_spec specs[] = {{"pass", OPTION_TEXT, &pass_text, 0, 0},
                                 {"simd", OPTION_FLAG, &simd, 0, 0},
                                 {"out", OPTION_TEXT, &path, 0, 0}};
    int first, code = options_read(argc, argv, help, specs, 3, true, &first);
    if (code != OPTIONS_DONE) return code;
    nl_op op;
    nl_pass pass;
    bool ok = argc - first == 2 ||
              options_fail("give a LAYER and a NAME, as `normlab new rmsnorm four_sums`");
    ok = ok && (nl_op_from_name(argv[first], &op) ||
                options_fail("%s is no layer: %s", argv[first], layer_names()));
    ok = ok && (good_name(argv[first + 1]) ||
                options_fail("the name '%s' may have only a to z, 0 to 9 and _", argv[first + 1]));
    ok = ok && (pass_from_name(pass_text, &pass) ||
                options_fail("--pass %s should be %s", pass_text, pass_names()));
    ok = ok && (pass != NL_INFERENCE || nl_layers[op].running ||
                options_fail("inference of %s is its forward pass", nl_op_name(op)));
    if (!ok) return options_see_help();

    char here[300];
    snprintf(here, sizeof here, "%.250s.c", argv[first + 1]);
    if (!path) path = here;
    FILE *out = fopen(path, "wx");
    if (!out && errno == EEXIST)
        return options_fail("%s already exists: give another NAME, or --out", path), NL_EXIT_USAGE;
    if (!out) return options_fail("cannot write %s: %s", path, strerror(errno)), NL_EXIT_USAGE;
    stub_write(out, op, pass, simd);
    bool written = !ferror(out);
    written = fclose(out) == 0 && written;
    if (!written)
        return options_fail("writing %s failed: %s", path, strerror(errno)), NL_EXIT_FAILED;
    printf("%s: replace each TODO; then: normlab try %s --watch\n", path, path);
    return NL_EXIT_OK;
}
