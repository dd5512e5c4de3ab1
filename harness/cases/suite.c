/* SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "layer.h"
#include "tuning.h"

#include <stdio.h>

#define ROWS "{layernorm,rmsnorm,qwen2_rmsnorm}"
#define GATED "{gated_rmsnorm,gate_first_rmsnorm}"
#define TYPES "{f32,f16,bf16}"
#define UNEVEN                                                                             \
    "{head:1e6,decay:64,lognormal:3,cauchy,alternating:1e6,first:1e4,middle:1e4,last:1e4," \
    "ramp:1000}"

static const char *const suite[] = {
    /* every width, and so every tail length */
    ROWS "/{forward,backward}/" TYPES "/{0,1,3}x{1..67}/normal",
    ROWS "/{forward,backward}/f32/2x{68..130}/normal",
    "batchnorm/{forward,backward,inference}/" TYPES "/{0,3}x{1..67+6}x{1,2,49}/normal",
    /* exact gradients show wrongly rounded ties, and rows missing in dgamma or dbeta */
    ROWS "/backward/" TYPES "/{2x{2,4,8,64},{129,1025,4097,8223,65537}x2}/exact/eps=0",
    GATED "/{forward,backward}/" TYPES "/{2x{2,4,8,64},{129,1025,4097,8223,65537}x2}/exact/eps=0",
    "batchnorm/backward/" TYPES "/{2x9,4x9,8x64,16x5x4,8222x3,2x3x5453,65538x2}/exact/eps=0",
    /* sizes between all published thresholds, with every remainder modulo 8; sizes of models */
    ROWS "/{forward,backward}/f32/3x{1001,1530,2339,3005,3572,5453,8326,12719,14000}/normal",
    "batchnorm/{forward,backward}/f32/{3x1530,3x5453,339x5,1205x2,2x3x3005}/normal",
    ROWS "/{forward,backward}/{f32,bf16}/2x" MODELS "/normal",
    ROWS "/{forward,backward}/f32/2x" MODELS "/normal/residual/eps=0.1",
    "batchnorm/{forward,backward,inference}/f32/{2x4100x3,2x3x32769,1x2x50176,32x64x49}/normal",
    /* means of one to a million sigma, in short and in long rows */
    "{layernorm,rmsnorm,batchnorm}/forward/f32/33x40/offset:{1..1048576*16}/eps=1e-12",
    "layernorm/forward/f32/2x{1536,5120}/offset:{16,256,4096}",
    "batchnorm/forward/f32/{5120x2,4x3x1280}/offset:{16,256,4096}",
    /* outputs close to zero, where the storage type holds few digits */
    "{" ROWS "/forward,batchnorm/{forward,inference}}/"
    "{f32/9x64/normal/gain=1e-38,{f16,bf16}/9x64/normal/gain=1e-5}",
    /* gains that are zero or tiny (Qwen2RMSNorm: nearly one); large dy at the ends of long rows */
    "{" ROWS "/{forward,backward},batchnorm/{forward,backward,inference}}/" TYPES
    "/3x{4,72}/normal/{gain=0,gamma=scale:{1e-3,1e-5,1e-6,1e-7}}",
    ROWS "/backward/f32/2x65537/normal/dy={first:1e6,last:1e6}",
    /* enough rows and features for a kernel to branch on the batch size */
    ROWS "/{forward,backward}/" TYPES "/{64x64,65x384,150x257}/normal",
    /* fields that a pass must ignore */
    "batchnorm/{backward,inference}/" TYPES
    "/{9x5,33x40x3}/normal/{momentum=0,momentum=1,biased-running-var}",
    "{" ROWS "/backward/" TYPES "/3x{7,72}/normal{,/residual},batchnorm/backward/" TYPES
    "/33x40x3/normal}/cast-before-weight",
    ROWS "/{forward,backward}/f32/3x72/normal/{momentum=0,biased-running-var}",
    /* y above the largest f16, but below the smallest number that rounds to infinity: |xhat| is 1,
     * and the gain rises to 65510 */
    "{rmsnorm,qwen2_rmsnorm}/forward/f16/{3x{2,8,66},2x1000}/alternating:30000/gamma=ramp:65510",
    "layernorm/forward/f16/{3x{2,8,66},2x1000}/alternating:30000/gamma=ramp:65510/no-beta",
    "batchnorm/forward/f16/{4x5,64x3,4x3x64}/alternating:30000/gamma=ramp:65510/no-beta",
    GATED "/{forward,backward}/" TYPES "/{0,1,3}x{1..67}/normal",
    GATED "/{forward,backward}/" TYPES
          "/3x{128,255,512,1000,1025,2049,4097,5453,8193,14000}/normal",
    /* gates near 0, and large gates, whose exp overflows, is subnormal or is 0 */
    GATED "/{forward,backward}/" TYPES
          "/9x{7,72}/normal/gate={scale:{20,60,200,1e4,1e-6},offset:-90,sparse,zeros,nan,inf}",
    GATED
    "/{forward,backward}/" TYPES
    "/9x{7,72}/{scale:{1e-30,1e-12,300,1e15},sparse,zeros,nan,inf,outliers,cauchy,exact,spike:3}",
    GATED "/{forward,backward}/" TYPES
          "/9x72/normal{,/no-gamma,/gain=0,/gamma=scale:{1e-38,1e5,1e37}}"
          "{,/eps=0,/eps=0.5}{,/in-place}",
    GATED "/forward/" TYPES "/9x{7,72,1000}/normal/{no-rstd,in-place,threads=3,stores=streaming}"
          "{,/cast-before-weight}",
    GATED "/backward/" TYPES "/9x{7,72,1000}/normal"
          "{,/no-dgamma}{,/no-dgate,/in-place=gate}{,/in-place=dy}{,/threads=3}",
    GATED "/backward/" TYPES
          "/9x72/normal/dy={zeros,sparse,nan,inf,scale:{1e-20,1e4,1e20},first:1e4}",
    GATED "/{forward,backward}/" TYPES
          "/9x72/{scale:{1e20,1e-40}{,/no-gamma},normal/{gate,gamma}={huge,tiny,nan,inf,sparse}}",
    GATED "/backward/" TYPES "/9x72/normal/dy={huge,tiny}",
    GATED "/{forward,backward}/f16/9x{7,72}/normal{,/parameters=f16}",
    GATED "/{forward,backward}/bf16/9x{7,72}/normal{,/parameters=bf16}",
    GATED "/{forward,backward}/" TYPES
          "/12x{7,72}/normal{/gap=5,/inner=4/outer-gap=9,/inner=3/gap=1}"
          "{,/in-place}",
    GATED "/forward/" TYPES "/12x{7,72}/normal/gap-{x,gate,y}=4",
    GATED "/backward/" TYPES "/12x{7,72}/normal/gap-{x,dy,gate,dgate,dx}=4",
    GATED "/{forward,backward}/" TYPES "/5x{33,64}/normal/skew-{x,gate,gamma,rstd}={4,12}",
    GATED "/backward/" TYPES "/5x{33,64}/normal/skew-{dy,dx,dgate,dgamma}={4,12}",
    GATED "/backward/" TYPES "/{129,1025,4097}x2/normal",
    /* rows that are not contiguous: gaps, heads of a packed tensor */
    ROWS "/{forward,backward}/" TYPES "/12x{5,64,129,1030}/normal{,/residual}"
         "/{gap=3,inner=4/outer-gap=65,inner=3/gap=1/outer-gap=64}",
    "{" ROWS "/forward/" TYPES "/12x{5,129}/normal/residual{,/inner=4}"
    "/gap-x=1/gap-residual=2/gap-y=3/gap-residual_out=4," ROWS "/backward/" TYPES
    "/12x{5,129}/normal/residual{,/inner=4}"
    "/gap-x=1/gap-dresidual=2/gap-dx=3/gap-dy=4}",
    ROWS "/{forward,backward}/" TYPES "/24x{80,2048}/normal/inner=3/outer-gap=32"
         "{/in-place,/threads=3,/stores=streaming}",
    "{" ROWS "/forward/" TYPES
    "/12x{5,129}/normal{,/residual}{/inner=4,{/gap-x=3,/gap-y=3}{,/inner=4}}," ROWS
    "/forward/" TYPES "/48x{5,72}/normal{,/residual}{,/no-gamma}/inner={2,6,8}/outer-gap=7"
    "{,/in-place}}",
    ROWS "/forward/f16/48x72/normal/residual/inner=8/parameters=f16{,/no-affine/in-place}"
         "{,/cast-before-weight}",
    ROWS "/forward/bf16/48x72/normal/residual/inner=6/parameters=bf16{,/in-place}"
         "{,/cast-before-weight}",
    "rmsnorm/forward/bf16/9x1530/normal/no-rstd/threads=3",
    /* parameters in 16 bits; x + residual rounded to 16 bits */
    "{" ROWS "/{forward,backward},batchnorm/{forward,backward,inference}}/"
    "{f16/9x{5,72}/normal/parameters=f16,bf16/9x{5,72}/normal/parameters=bf16}{,/no-affine}",
    ROWS "/{forward,backward}/" TYPES "/9x72/normal/no-affine/residual",
    ROWS "/forward/" TYPES "/9x{5,72,2050}/normal/residual/rounded-sum{,/cast-before-weight}",
    /* no variance */
    "{" ROWS "/{forward,backward},batchnorm/{forward,backward,inference}}/" TYPES
    "/5x5/{{zeros,constant,nan,inf}/eps=0,zeros/eps=1e-42}",
    GATED "/{forward,backward}/" TYPES "/9x72/zeros/eps=1e-42",
    /* a few values dominate a sum */
    ROWS "/{forward,backward}/f32/3x4099/" UNEVEN,
    "batchnorm/{forward,backward}/f32/{3x2x1363,4099x2}/" UNEVEN,
    ROWS "/{forward,backward}/f32/2x65537/{first:1e4,last:1e4}",
    ROWS "/forward/f32/2x131072/exact",
    "batchnorm/{forward,backward}/f32/65537x2/{first:1e4,last:1e4}",
    /* more threads than a careless kernel's array has elements */
    ROWS "/{forward,backward}/f32/101x16/normal/threads={33,64}",
    "batchnorm/{forward,backward,inference}/f32/101x{16,5x3}/normal/threads={33,64}",
    /* many rows, long rows */
    "{" ROWS "/{forward/f32,backward/{f32,bf16}},batchnorm/{forward,backward}/f32}"
    "/100001x3/normal",
    ROWS "/{forward,backward}/" TYPES "/{65537x1,2x{65536,65537}}/normal",
    ROWS "/{forward,backward}/f32/2x65537/normal/residual",
};

#define HOW "{,/stores=streaming}{,/threads=3}"
#define WITH_RESIDUAL "{,/residual,/residual/no-residual_out}"
#define WITH_ROWS "{,/in-place}{,/no-gamma}{,/no-rstd}" HOW
#define SHORT_MANY_WIDE "/{9x72,8200x5,2x8200}/normal"
#define SHORT_TALL_WIDE \
    "/{9x72,1030x5,2x8200}/normal" /* forward: a row's bits depend on no other row */
#define IN_ANY_PLACE                                                                    \
    "{,/in-place,/residual{{,/in-place,/in-place=x,/in-place=residual}{,/rounded-sum}," \
    "/no-residual_out{,/in-place}}}"
#define GRADIENT_IN_ANY_PLACE "{,/in-place,/residual{,/in-place,/in-place=dresidual}}"
#define WHOLE_VECTORS "/3x{256,260,768,1024,4096,8192}/normal"
#define WHOLE_PLANES "/{9x1024,3x4x1024}/normal"

/* More cases, if few implementations are checked: every size up to a few hundred, and tensors
 * above 8 MiB, the usual size of a stack. suite_cases() also draws large cases. */
static const char *const thorough_suite[] = {
    "{layernorm,rmsnorm}/{forward,backward}/f32/1x2100001/normal",
    ROWS "/{forward,backward}/f32/{2x{131..1100},{4..140}x5}/normal",
    "batchnorm/{forward,backward,inference}/f32/{3x{1..300},{4..140}x3,2x2x{1..300}}/normal",
    ("{{rmsnorm,layernorm}/{forward,backward},batchnorm/{forward,backward,inference}}/f32/"
     "2049x1025/normal"),
    /* many longer rows; row counts with every remainder modulo a block; several long planes */
    "{layernorm,rmsnorm}/forward/f32/131075x17/normal",
    ROWS "/backward/f32/{131075x16,{1025..1281}x4}/exact/eps=0",
    GATED "/backward/f32/131075x16/exact/eps=0",
    ROWS "/backward/f32/{16500x40,{1001,2001,3001,5001,6001,10001}x2}/normal",
    ROWS "/{forward,backward}/f32/2x{1001,2001,3001,5001,6001,10001}/normal",
    "batchnorm/{forward,backward,inference}/f32/{3x2x65543,131075x3x5}/normal",
    ROWS "/{forward,backward}/f32/{2051x257,9003x65,140003x2}/normal",
    /* all rows begin with the same values */
    ROWS "/{forward,backward}/f32/{5x40,65x300}/alike",
    /* models' widths with many rows, in 16 bits and as views */
    "{layernorm,rmsnorm}/{forward,backward}/{f32/4200x128,f16/1100x768,bf16/1030x1024}/normal",
    "{layernorm/{forward,backward}/f32,rmsnorm/forward/bf16,rmsnorm/backward/f32}/1100x4096/normal",
    "{layernorm,rmsnorm}/forward/{f32,bf16}/4200x128/normal/inner=8/gap=16",
    "{layernorm,rmsnorm}/forward/{f32/1100x1024/normal/gap=16,bf16/1100x2048/normal/in-place}",
    /* corners of tiles, and products of counts above 2^32 */
    ROWS "/{forward,backward}/f32/{67x2048,129x1100,257x515}/normal",
    "batchnorm/{forward,backward,inference}/f32/2x{64..81}x{1..33}/normal",
    "{layernorm/forward/f32/1x131072,batchnorm/forward/f32/131072x1}/ramp:100",
    "batchnorm/{forward,backward,inference}/f32/{17x65x257,33x129x65}/normal",
    /* options, on tensors so large that kernels may use another loop */
    ROWS "/{forward,backward}/f32/1025x1027/normal/in-place",
    "batchnorm/{forward,backward,inference}/f32/1025x1027/normal/in-place",
    "{layernorm,rmsnorm}/{forward,backward}/f32/1025x4099/normal/residual",
    "batchnorm/forward/f32/{131076x2,2x2x65544}/{normal,exact}{,/biased-running-var}/momentum=1",
    /* more blocks of 16 rows than 16 bits can count */
    "{" ROWS "/{forward,backward},batchnorm/{forward,backward,inference}}/f32/1048577x1/normal",
    /* subnormal numbers in each thread; more threads than an array of 64 can hold */
    "{" ROWS
    "/forward,batchnorm/{forward,inference}}/f32/{24x64,64x512}/normal/gain=1e-40/threads=3",
    "{" ROWS ",batchnorm}/backward/f32/{24x64,64x512}/normal/dy=scale:1e-39/threads=3",
    "batchnorm/backward/f32/{2x1,8x3}/middle:-1e4/dy=scale:2e-40/gamma=scale:1e37",
    "{" ROWS "/{forward,backward},batchnorm/{forward,backward,inference}}/f32/131x16/normal/"
    "threads=100",
    /* sizes of x at which rstd leaves float's range */
    ROWS "/forward/f32/3x{2,8,65}/{scale:1e38,scale:5e37,scale:1e-38}{,/eps=0}",
    "batchnorm/forward/f32/{8x3,65x3}/{scale:1e38,scale:5e37,scale:1e-38}{,/eps=0}",
    /* two calls at once, with and without optional arguments */
    ROWS "/{forward,backward}/f32/16x1100/normal{,/residual,/no-affine,/threads=2}",
    "batchnorm/{forward,backward,inference}/f32/{16x1100,16x11x100}/normal{,/no-affine,/threads=2}",
    /* sums above the largest f16 that still round to it */
    ROWS "/forward/f16/3x16/ramp:65504/residual",
    ROWS "/backward/f16/3x16/normal/dresidual=ramp:65504",
    /* means that no 16-bit type holds, in wide rows */
    ROWS "/forward/" TYPES "/2x8200/offset:100.2" WITH_RESIDUAL,
    /* every combination of absent optional arguments */
    ROWS "/forward/" TYPES "/3x72/normal" WITH_RESIDUAL WITH_ROWS,
    ROWS "/forward/{f16,bf16}/3x72/normal" WITH_RESIDUAL WITH_ROWS "/cast-before-weight",
    "layernorm/forward/" TYPES "/3x72/normal" WITH_RESIDUAL WITH_ROWS
    "{/no-beta,/no-mean,/no-beta/no-mean}",
    ROWS "/backward/" TYPES "/3x72/normal{,/residual}{,/in-place}{,/no-gamma}{,/no-dgamma}" HOW,
    "layernorm/backward/" TYPES
    "/3x72/normal{,/residual}{,/in-place}{,/no-gamma}{,/no-dgamma}/no-dbeta" HOW,
    "batchnorm/forward/" TYPES "/3x4x40/normal{,/no-gamma}{,/no-beta}{,/no-mean}{,/no-rstd}"
    "{,/in-place}{,/no-running_mean,/biased-running-var}" HOW,
    "batchnorm/{forward,inference}/{f16,bf16}/3x4x40/normal/cast-before-weight"
    "{,/no-gamma}{,/no-beta}{,/in-place}" HOW,
    "batchnorm/inference/" TYPES "/3x4x40/normal{,/no-gamma}{,/no-beta}{,/in-place}" HOW,
    "batchnorm/backward/" TYPES
    "/3x4x40/normal{,/no-gamma}{,/no-dgamma}{,/no-dbeta}{,/in-place}" HOW,
    /* every choice of outputs in place, with absent arguments, on values that hide no error */
    ROWS "/forward/" TYPES SHORT_TALL_WIDE IN_ANY_PLACE "{,/no-gamma}",
    ROWS "/forward/{f16,bf16}" SHORT_TALL_WIDE IN_ANY_PLACE "{,/no-gamma}/cast-before-weight",
    "layernorm/forward/" TYPES SHORT_TALL_WIDE
    "{,/residual{,/rounded-sum}}{,/in-place}/no-beta{,/no-mean}{,/no-gamma}",
    ROWS "/backward/" TYPES SHORT_MANY_WIDE GRADIENT_IN_ANY_PLACE "{,/no-gamma}{,/no-dgamma}",
    "layernorm/backward/" TYPES SHORT_MANY_WIDE GRADIENT_IN_ANY_PLACE
    "{,/no-gamma}{,/no-dgamma}/no-dbeta",
    "batchnorm/{forward,inference}/" TYPES
    "/{9x4x18,8200x5,2x8200}/normal{,/in-place}{,/no-gamma}{,/no-beta}",
    "batchnorm/backward/" TYPES
    "/{9x4x18,8200x5,2x8200}/normal{,/in-place}{,/no-gamma}{,/no-dgamma}{,/no-dbeta}",
    /* each buffer misaligned relative to the others, in rows of whole vectors */
    ROWS "/forward/" TYPES WHOLE_VECTORS "{,/stores=streaming}/skew-{x,y,gamma,rstd}=4",
    "layernorm/forward/" TYPES WHOLE_VECTORS "/skew-{beta,mean}=4",
    ROWS "/forward/" TYPES WHOLE_VECTORS "/residual/skew-{residual,residual_out,y}=4",
    ROWS "/backward/" TYPES WHOLE_VECTORS "{,/stores=streaming}/skew-{x,dy,dx,gamma,dgamma}=4",
    "batchnorm/{forward,inference}/" TYPES WHOLE_PLANES
    "{,/stores=streaming}/skew-{x,y,gamma,beta}=4",
    "batchnorm/inference/" TYPES WHOLE_PLANES "/skew-running_{mean,var}=4",
    "batchnorm/backward/" TYPES WHOLE_PLANES "{,/stores=streaming}/skew-{x,dy,dx,gamma,dgamma}=4",
};

static const char *const long_suite[] = {
    ROWS "/{forward,backward}/" TYPES "/{1000000x3,2x1048576}/normal{,/residual}",
    ROWS "/forward/f32/1x4194304/normal",
    "{layernorm,rmsnorm}/forward/f32/1x18000000/normal", /* more elements than a float can count */
    "{layernorm,rmsnorm}/{forward,backward}/{f32,bf16}/{16400x128,8200x1024}/normal",
    "layernorm/forward/{f32,bf16}/{8200x768,2200x4096}/normal/gap=16",
    "batchnorm/{forward,backward,inference}/" TYPES "/{1000000x3,2x2x1048576}/normal",
};

/* The list that cases are added to. After an error no case is added. */
typedef struct sink {
    case_list *list;
    char *error;
    size_t error_size;
    bool ok;
} sink;

/* From index `first` on, removes cases of exact data that have too many elements for them. */
static void remove_large_exact(case_list *list, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < list->count; i++) {
        const nl_problem *p = &list->items[i].problem;
        const bool large = p->n * p->c * p->s > EXACT_MAX;
        if (!large || !list->items[i].kind[NL_X].exact) list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

/* Adds head + "/" + type + "/" + shape + tail. */
static void add(sink *to, const char *head, const char *types, const char *shape,
                const char *tail) {
    const size_t first = to->list->count;
    char text[CASE_TEXT];
    snprintf(text, sizeof text, "%s/%s/%s/%s", head, types, shape, tail);
    to->ok = to->ok && cases_add(to->list, text, to->error, to->error_size);
    remove_large_exact(to->list, first);
}

/* Adds all variants of a row norm's shape. spike: 0, or a threshold, at which data get one large
 * element that no sum may miss. */
static void add_rows(sink *to, nl_pass pass, const char *shape, size_t spike) {
    const bool backward = pass == NL_BACKWARD;
    const char *head = backward ? ROWS "/backward" : ROWS "/forward";
    char tail[80];
    add(to, head, TYPES, shape,
        backward ? "normal{,/residual,/in-place}"
        : spike  ? "{normal{,/residual,/in-place},exact}"
                 : "{normal{,/residual,/residual/in-place,/in-place,/no-affine},exact}");
    if (!backward) add(to, head, "{f16,bf16}", shape, "normal/cast-before-weight");
    snprintf(tail, sizeof tail, "spike:{%zu,%zu}", spike - 1, spike);
    if (spike) add(to, head, "f32", shape, tail);
}

static const char *const batch_heads[] = {[NL_FORWARD] = "batchnorm/forward",
                                          [NL_BACKWARD] = "batchnorm/backward",
                                          [NL_INFERENCE] = "batchnorm/inference"};

static void add_batch(sink *to, nl_pass pass, const char *shape, size_t spike) {
    char tail[80];
    add(to, batch_heads[pass], TYPES, shape,
        pass != NL_FORWARD ? "normal{,/in-place}"
        : spike            ? "{normal{,/in-place},exact}"
                           : "{normal{,/in-place,/no-affine},exact}");
    if (pass != NL_BACKWARD)
        add(to, batch_heads[pass], "{f16,bf16}", shape, "normal/cast-before-weight");
    snprintf(tail, sizeof tail, "spike:{%zu,%zu}", spike - 1, spike);
    if (spike && pass != NL_INFERENCE) add(to, batch_heads[pass], "f32", shape, tail);
}

/* Writes the sizes just below, at and just above threshold t; `twice`: also just above 2 t. */
static void around(char *text, size_t size, size_t t, size_t unit, bool twice) {
    const size_t below = t > unit ? t - unit : t;
    snprintf(text, size, twice ? "{%zu,%zu,%zu,%zu}" : "{%zu,%zu,%zu}", below, t, t + unit,
             2 * t + unit);
}

enum { LARGE = 512, RUN = 64, WIDE = 512 };

/* Writes shapes with fewer elements than the threshold, with about as many, and with more. */
static void around_elements(char *text, size_t size, size_t elements) {
    const size_t rows = elements < 3 * WIDE ? 2 : elements / WIDE, wide = elements / rows + 1;
    snprintf(text, size, "%zux{%zu,%zu,%zu}", rows, wide > 2 ? wide - 2 : 1, wide - 1, wide);
}

/* Adds shapes in which one size is around a row norm's threshold, and the other sizes are small. */
static void add_row_threshold(sink *to, nl_pass pass, nl_threshold t) {
    char sizes[120], shape[200];
    const bool backward = pass == NL_BACKWARD;
    const size_t spike = t.axis == NL_OF_C && t.size >= LARGE ? t.size : 0;
    around(sizes, sizeof sizes, t.size, 1, !spike);
    if (t.axis == NL_OF_N) {
        snprintf(shape, sizeof shape, "%sx3", sizes);
        add(to, ROWS "/{forward,backward}", TYPES, shape, "normal");
        snprintf(shape, sizeof shape, "%sx2", sizes);
        add(to, ROWS "/backward", TYPES, shape, "exact/eps=0");
        return;
    }
    if (t.axis == NL_OF_ELEMENTS) {
        around_elements(shape, sizeof shape, t.size);
        add_rows(to, pass, shape, 0);
        add(to, backward ? ROWS "/backward" : ROWS "/forward", TYPES, shape,
            "normal{,/residual,/in-place}/threads=3");
        return;
    }
    const int few = spike ? 2 : 3, rows = backward ? 5 : few; /* 5: a block and one row */
    snprintf(shape, sizeof shape, "%dx%s", rows, sizes);
    add_rows(to, pass, shape, spike);
    snprintf(shape, sizeof shape, "%dx%zu", rows, 2 * t.size + 1);
    if (spike)
        add(to, backward ? ROWS "/backward" : ROWS "/forward", TYPES, shape, "normal{,/residual}");
}

/* Adds shapes in which one size is around a threshold of BatchNorm. */
static void add_batch_threshold(sink *to, nl_pass pass, nl_threshold t) {
    char sizes[120], shape[200];
    const size_t spike = t.size >= LARGE ? t.size : 0;
    const bool wide = t.axis == NL_OF_C || t.axis == NL_OF_S; /* a large size means many elements */
    around(sizes, sizeof sizes, t.size, 1, !(spike && wide));
    switch (t.axis) {
    case NL_OF_N: snprintf(shape, sizeof shape, "%s{x5,x3x2}", sizes); break;
    case NL_OF_C:
    case NL_OF_COLUMNS: snprintf(shape, sizeof shape, "3x%s", sizes); break;
    case NL_OF_S: snprintf(shape, sizeof shape, "2x2x%s", sizes); break;
    case NL_OF_GROUP:
        around(sizes, sizeof sizes, t.size / RUN, 1, true);
        snprintf(shape, sizeof shape, "%sx2x%d", sizes, RUN);
        break;
    case NL_OF_ELEMENTS:
        around_elements(shape, sizeof shape, t.size);
        add(to, batch_heads[pass], TYPES, shape, "normal{,/threads=3}");
        if (t.size < 64 || pass == NL_INFERENCE) return;
        /* groups of channels, the last with one channel */
        snprintf(shape, sizeof shape, "2x{32,33}x%zu", t.size / 64);
        add(to, batch_heads[pass], TYPES, shape, "normal");
        return;
    }
    add_batch(to, pass, shape, t.axis == NL_OF_S || t.axis == NL_OF_GROUP ? spike : 0);
}

/* Adds rows of gated RMSNorm, whose rungs publish few thresholds. */
static void add_gated_threshold(sink *to, nl_pass pass, nl_threshold t) {
    char sizes[120], shape[200];
    around(sizes, sizeof sizes, t.size, 1, true);
    snprintf(shape, sizeof shape, t.axis == NL_OF_N ? "%sx5" : "3x%s", sizes);
    add(to, pass == NL_BACKWARD ? GATED "/backward" : GATED "/forward", TYPES, shape,
        "normal{,/in-place}");
}

/* Adds cases around each threshold, once even if several implementations publish it. */
static void add_thresholds(sink *to) {
    enum { MOST = 512 };
    static struct seen {
        int family;
        nl_pass pass;
        nl_threshold t;
    } seen[MOST];
    size_t count = 0;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        const int family = m->ops & NL_BIT(NL_BATCHNORM)       ? 0
                           : m->ops & NL_BIT(NL_GATED_RMSNORM) ? 1
                                                               : 2;
        for (const nl_threshold *t = m->thresholds; t && t->size; t++)
            for (nl_pass pass = 0; pass < NL_PASSES; pass++) {
                size_t k = 0;
                if (!(m->passes & NL_BIT(pass))) continue;
                while (k < count && (seen[k].family != family || seen[k].pass != pass ||
                                     seen[k].t.axis != t->axis || seen[k].t.size != t->size))
                    k++;
                if (k < count) continue;
                if (count < MOST) seen[count++] = (struct seen){family, pass, *t};
                static void (*const adds[])(sink *, nl_pass, nl_threshold) = {add_batch_threshold,
                                                                              add_gated_threshold,
                                                                              add_row_threshold};
                adds[family](to, pass, *t);
            }
    }
}

static void add_batch_forks(sink *to, const char *passes, size_t from) {
    const size_t width = 1024, rows = from / width;
    char shape[120];
    snprintf(shape, sizeof shape, "{%zux{%zu,%zu,%zu},%zux5,%zux4x%zu}", rows, width - 1, width,
             width + 1, from / 4, rows / 4, width);
    add(to, passes, TYPES, shape, "normal{,/in-place}/threads=3");
}

/* Adds cases on both sides of the size from which threads are used, with numbers of threads that do
 * not divide the rows. Adds cases in which several threads share a row. */
static void add_forks(sink *to) {
    const size_t width = 1024, forward = NL_FORK_FORWARD / width,
                 backward = NL_FORK_BACKWARD / width;
    char shape[120];
    snprintf(shape, sizeof shape, "{%zux{%zu,%zu,%zu},1x{%d,%d,49151},2x%d}", forward, width - 1,
             width, width + 1, NL_FORK_FORWARD, NL_FORK_FORWARD + 1, NL_FORK_FORWARD + 1);
    add(to, ROWS "/forward", TYPES, shape, "{normal{,/residual/in-place},exact}/threads=3");
    add(to, ROWS "/forward", "f32", shape, "spike:32768/threads=3");
    add(to, GATED "/forward", TYPES, shape, "normal/threads=3");
    snprintf(shape, sizeof shape, "%zux{%zu,%zu,%zu}", backward, width - 1, width, width + 1);
    add(to, ROWS "/backward", TYPES, shape, "normal{,/residual}/threads=3");
    add(to, GATED "/backward", TYPES, shape, "normal/threads=3");
    add_batch_forks(to, "batchnorm/{forward,backward}", NL_FORK_BATCH);
    add_batch_forks(to, "batchnorm/inference", NL_FORK_FORWARD);
}

static void add_stream(sink *to, const char *passes, size_t bytes, size_t bytes_in_16_bits) {
    char shape[120];
    snprintf(shape, sizeof shape, "%zux{1023,1024,1025}", bytes / 4096);
    add(to, passes, "f32", shape, "normal{,/threads=2}");
    snprintf(shape, sizeof shape, "%zux{2047,2048,2049}", bytes_in_16_bits / 4096);
    add(to, passes, "{f16,bf16}", shape, "normal");
}

/* Adds cases on both sides of the size from which outputs bypass this machine's caches. */
static void add_streams(sink *to) {
    const nl_tuning *t = nl_tuning_now();
    add_stream(to, "{" ROWS "/forward,batchnorm/inference}", t->stream_bytes, t->stream_bytes);
    add_stream(to, ROWS "/backward", t->stream_backward, t->stream_bytes);
    add_stream(to, "batchnorm/{forward,backward}", t->stream_batch, t->stream_batch);
}

bool suite_cases(case_list *list, suite_depth depth, uint64_t seed, char *error,
                 size_t error_size) {
    sink to = {list, error, error_size, true};
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++)
        if (!cases_add(list, suite[i], error, error_size)) return false;
    if (!covering_cases(list, seed, error, error_size)) return false;
    for (uint64_t i = 0; i < DRAWN; i++)
        if (!drawn_case(list, seed, i, error, error_size)) return false;
    add_thresholds(&to), add_forks(&to);
    for (size_t i = 0; depth != SUITE_FOR_ALL && i < sizeof thorough_suite / sizeof *thorough_suite;
         i++)
        if (!cases_add(list, thorough_suite[i], error, error_size)) return false;
    for (uint64_t i = 0; depth != SUITE_FOR_ALL && i < DRAWN_LARGE; i++)
        if (!large_case(list, seed, i, error, error_size)) return false;
    if (depth != SUITE_FOR_ALL && (!contiguous_cases(list, seed, error, error_size) ||
                                   !model_cases(list, seed, error, error_size)))
        return false;
    for (size_t i = 0; depth == SUITE_LONG && i < sizeof long_suite / sizeof *long_suite; i++)
        if (!cases_add(list, long_suite[i], error, error_size)) return false;
    if (depth == SUITE_LONG) add_streams(&to);
    return to.ok && cases_add(list, "museum", error, error_size);
}
