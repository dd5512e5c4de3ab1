# `normlab try` compiles a kernel as this build does: with the flags for all compilers, for this compiler, for
# vectors, and for each ISA.
list(JOIN flags " " build_flags)
string(REPLACE " -Werror" "" build_flags "-std=gnu17 ${build_flags}")
# Leaves out coverage flags: a kernel would write its counts into its temporary folder, which is gone by then.
string(REGEX REPLACE "--coverage|'?-fprofile[^ ]*" "" own_flags "${CMAKE_C_FLAGS} ${OpenMP_C_FLAGS}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(vector_flags "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set(vector_flags -O2)
endif()
set(isa_flags "")
foreach(isa IN LISTS isas)
    list(JOIN flags_${isa} " " of_isa)
    string(APPEND isa_flags " ISA_FLAGS(${isa}, \"${of_isa}\")")
endforeach()
file(RELATIVE_PATH headers ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR}/normlab)
file(CONFIGURE OUTPUT generated/kernel_build.h CONTENT "#define BUILD_CC \"${CMAKE_C_COMPILER}\"
#define BUILD_FLAGS \"${CMAKE_C_FLAGS_${type}} ${build_flags}\"
#define BUILD_OWN_FLAGS \"${own_flags}\"
#define BUILD_VECTOR_FLAGS \"${vector_flags}\"
#define BUILD_ISA_FLAGS ${isa_flags}
#define BUILD_SOURCE \"${PROJECT_SOURCE_DIR}\"
#define BUILD_HEADERS \"${headers}\"\n" @ONLY)
