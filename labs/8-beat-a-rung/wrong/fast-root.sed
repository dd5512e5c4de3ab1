# The mistake: the reciprocal root from the bits of the float and one step of Newton: three digits.
# expect: wrong every category
# expect: hint rstd, y are wrong in every element; right: mean
/^#include/a\
#include <string.h>\
\
static float fast_root(float f) {\
    unsigned bits;\
    float root;\
    memcpy(&bits, &f, sizeof bits);\
    bits = 0x5f3759df - (bits >> 1);\
    memcpy(&root, &bits, sizeof root);\
    return root * (1.5f - 0.5f * f * root * root);\
}
s|1 / sqrtf(|fast_root(|
