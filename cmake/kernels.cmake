# An object library for one ISA, with its compiler flags and its header of vector words.
#     nl_add_isa_library(normlab_limit avx2 harness/timing/limit_kernels.c)
function(nl_add_isa_library library isa)
    add_library(${library} OBJECT ${ARGN})
    target_compile_definitions(${library} PRIVATE NL_ISA=${isa} NL_VEC_HEADER="vec/${isa}.h")
    target_compile_options(${library} PRIVATE ${flags_${isa}})
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/optimized)
    target_link_libraries(${library} PRIVATE normlab_flags)
endfunction()

# A kernel file needs no registration: it becomes one line of the table for each ISA. A generated
# source defines the kernel's name (NL_NAME "layernorm/naive", NL_STEM layernorm_naive) and includes
# the file, so that a new file recompiles no other file.
#     nl_add_kernels(ISA avx2 FOLDERS optimized)
function(nl_add_kernels)
    cmake_parse_arguments(ARG "" "ISA" "FOLDERS;FLAGS" ${ARGN})
    list(GET ARG_FOLDERS 0 folder)
    set(library normlab_kernels_${ARG_ISA}_${folder})
    nl_add_isa_library(${library} ${ARG_ISA})
    target_compile_options(${library} PRIVATE ${ARG_FLAGS})
    if(ARG_ISA MATCHES avx)  # reading the intrinsics takes longer than compiling most of these files
        target_precompile_headers(${library} PRIVATE <immintrin.h>)
    endif()
    foreach(folder IN LISTS ARG_FOLDERS)
        # Subfolders hold code that several rungs of this folder share.
        file(GLOB shared CONFIGURE_DEPENDS ${folder}/*/*.c)
        target_sources(${library} PRIVATE ${shared})
        file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.c)
        foreach(source IN LISTS sources)
            string(REGEX REPLACE "\\.c$" "" name ${source})
            string(MAKE_C_IDENTIFIER ${name} stem)
            set(named ${PROJECT_BINARY_DIR}/generated/${source})
            file(CONFIGURE OUTPUT ${named} CONTENT "#define NL_NAME \"${name}\"
#define NL_STEM ${stem}
#include \"${PROJECT_SOURCE_DIR}/${source}\"\n" @ONLY)
            target_sources(${library} PRIVATE ${named})
            if("NL_ENTRY(${stem}_${ARG_ISA})\n" IN_LIST NL_ENTRIES)
                message(FATAL_ERROR "${source}: another file's name differs by punctuation only")
            endif()
            list(APPEND NL_ENTRIES "NL_ENTRY(${stem}_${ARG_ISA})\n")
        endforeach()
    endforeach()
    set(NL_ENTRIES ${NL_ENTRIES} PARENT_SCOPE)
    set(NL_OBJECTS ${NL_OBJECTS} $<TARGET_OBJECTS:${library}> PARENT_SCOPE)
endfunction()

# Writes the table, which core/registry.c includes.
function(nl_write_table file)
    string(JOIN "" text ${NL_ENTRIES})
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()

# Fails if a line of choices[] in core/best.c names no kernel file.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/best.c)
file(STRINGS ${PROJECT_SOURCE_DIR}/core/best.c choices REGEX "^    {\"")
foreach(choice IN LISTS choices)
    string(REGEX REPLACE "^    {\"([^\"]*)\".*" "\\1" name ${choice})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${name}.c)
        message(FATAL_ERROR "core/best.c: choices[] names '${name}', and there is no file ${name}.c")
    endif()
endforeach()
