# The file is the registration: every kernel file becomes one line of the table for each ISA it is
# compiled for. A generated source defines its name (NL_NAME "layernorm/naive", NL_STEM layernorm_naive)
# and includes it, so that a new file recompiles no other; the object library defines the ISA
# (NL_ISA avx2).
#     nl_add_kernels(ISA avx2 FOLDERS optimized FLAGS -mavx2 -mfma)
function(nl_add_kernels)
    cmake_parse_arguments(ARG "" "ISA" "FOLDERS;FLAGS" ${ARGN})
    list(GET ARG_FOLDERS 0 folder)
    set(library normlab_kernels_${ARG_ISA}_${folder})
    add_library(${library} OBJECT)
    target_compile_definitions(${library} PRIVATE NL_ISA=${ARG_ISA}
        NL_VEC_HEADER="vec/${ARG_ISA}.h")
    target_compile_options(${library} PRIVATE ${ARG_FLAGS})
    target_include_directories(${library} PRIVATE include core)
    target_link_libraries(${library} PRIVATE normlab_flags)
    foreach(folder IN LISTS ARG_FOLDERS)
        file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.c)
        foreach(source IN LISTS sources)
            string(REGEX REPLACE "\\.c$" "" name ${source})
            string(MAKE_C_IDENTIFIER ${name} stem)
            set(named ${PROJECT_BINARY_DIR}/generated/${source})
            file(CONFIGURE OUTPUT ${named} CONTENT "#define NL_NAME \"${name}\"
#define NL_STEM ${stem}
#include \"${PROJECT_SOURCE_DIR}/${source}\"\n" @ONLY)
            target_sources(${library} PRIVATE ${named})
            list(APPEND NL_ENTRIES "NL_ENTRY(${stem}_${ARG_ISA})\n")
        endforeach()
    endforeach()
    set(NL_ENTRIES ${NL_ENTRIES} PARENT_SCOPE)
    set(NL_OBJECTS ${NL_OBJECTS} $<TARGET_OBJECTS:${library}> PARENT_SCOPE)
endfunction()

# The table itself, which core/registry.c includes.
function(nl_write_table file)
    string(JOIN "" text ${NL_ENTRIES})
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()

# Compiles the limit's mover for vectors of so many bytes.
function(nl_add_limit)
    cmake_parse_arguments(ARG "" "ISA;BYTES" "FLAGS" ${ARGN})
    set(library normlab_limit_${ARG_ISA})
    add_library(${library} OBJECT harness/timing/limit_kernels.c)
    target_compile_definitions(${library} PRIVATE LIMIT_NAME=limit_${ARG_ISA} LIMIT_BYTES=${ARG_BYTES})
    target_compile_options(${library} PRIVATE ${ARG_FLAGS})
    target_include_directories(${library} PRIVATE harness)
    target_link_libraries(${library} PRIVATE normlab_flags)
    set(LIMIT_ENTRIES "${LIMIT_ENTRIES}LIMIT_ENTRY(${ARG_ISA})\n" PARENT_SCOPE)
    set(LIMIT_OBJECTS ${LIMIT_OBJECTS} $<TARGET_OBJECTS:${library}> PARENT_SCOPE)
endfunction()
