# Writes HEADER if its contents change. They are the compiler, its FLAGS, the commit of SOURCE (not of a repository
# around SOURCE), and a hash of compiler, flags, kernels and dispatch, without comments and layout.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above})
execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit unknown)
endif()
file(GLOB_RECURSE kernels ${SOURCE}/core/*.[ch] ${SOURCE}/include/*.h ${SOURCE}/layernorm/*.[ch]
    ${SOURCE}/rmsnorm/*.[ch] ${SOURCE}/gated_rmsnorm/*.[ch] ${SOURCE}/batchnorm/*.[ch] ${SOURCE}/half/*.[ch] ${SOURCE}/optimized/*.[ch])
list(SORT kernels)
string(REGEX REPLACE " -W[^ ]*" "" hashes "${COMPILER} ${FLAGS}")  # -W options change no code
foreach(file IN LISTS kernels)
    file(READ ${file} text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/|[ \t]*//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \t\n]+" " " text "${text}")
    string(STRIP "${text}" text)
    string(SHA256 hash "${text}")
    string(APPEND hashes " ${hash}")
endforeach()
string(SHA256 kernels "${hashes}")
string(SUBSTRING ${kernels} 0 12 kernels)
string(REGEX REPLACE " +" " " FLAGS "${FLAGS}")
string(STRIP "${FLAGS}" FLAGS)
foreach(text COMPILER FLAGS commit)
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" ${text} "${${text}}")
endforeach()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#define NL_BUILD_COMPILER "@COMPILER@"
#define NL_BUILD_FLAGS "@FLAGS@"
#define NL_BUILD_COMMIT "@commit@"
#define NL_BUILD_KERNELS "@kernels@"
]])
