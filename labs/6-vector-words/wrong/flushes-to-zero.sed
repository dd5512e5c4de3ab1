# The mistake: the processor is told to flush subnormal results to zero: small outputs are lost.
# expect: wrong subnormals
# expect: hint flushed to zero
/^#include/a\
#if defined(__x86_64__)\
#include <xmmintrin.h>\
#define FLUSH_TO_ZERO() _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON)\
#define AS_BEFORE() _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF)\
#elif defined(__aarch64__)\
#include <fenv.h>\
#define FLUSH_TO_ZERO() fesetenv(&(fenv_t){.__fpcr = 1u << 24})\
#define AS_BEFORE() fesetenv(FE_DFL_ENV)\
#endif
s|^    nl_with_type.*|    FLUSH_TO_ZERO();\n&\n    AS_BEFORE();|
