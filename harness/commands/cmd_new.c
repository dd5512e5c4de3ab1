/* `normlab new LAYER NAME`: a kernel file to begin with. SPDX-License-Identifier: MIT */
#include "cases/names.h"
#include "layer.h"
#include "cli/options.h"
#include "commands/commands.h"
#include "workbench/stub.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "normlab new LAYER NAME [options]\n\n"
    "Writes NAME.c, a kernel file with everything but the formula: the loops, what to read and\n"
    "write with, NL_IMPL, and the header of idea, gain and fails to fill in. It compiles, "
    "computes\n"
    "nothing, and says TODO where there is something to do. Nothing is ever overwritten.\n\n"
    "  --pass PASS   forward (the default), backward, or for batchnorm inference\n"
    "  --simd        in vectors, in the words of optimized/vec.h\n"
    "  --out FILE.c  instead of NAME.c in this folder\n\n"
    "Examples:\n"
    "  normlab new rmsnorm four_sums\n"
    "  normlab new layernorm mine --pass backward --simd\n"
    "  normlab new batchnorm mine --out batchnorm/mine.c\n"
    "  normlab try four_sums.c --watch\n";

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
                options_fail("the name '%s' should be of a to z, 0 to 9 and _", argv[first + 1]));
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
        return options_fail("%s is there already: give another NAME, or --out", path),
               NL_EXIT_USAGE;
    if (!out) return options_fail("cannot write %s: %s", path, strerror(errno)), NL_EXIT_USAGE;
    stub_write(out, op, pass, simd);
    bool written = !ferror(out);
    written = fclose(out) == 0 && written;
    if (!written)
        return options_fail("writing %s failed: %s", path, strerror(errno)), NL_EXIT_FAILED;
    printf("%s: fill in what says TODO; normlab try %s --watch\n", path, path);
    return NL_EXIT_OK;
}
