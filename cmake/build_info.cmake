# Writes HEADER, if it changes: the compiler, its FLAGS, and the commit of SOURCE, not that of a
# repository around it.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above})
execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit unknown)
endif()
string(REGEX REPLACE " +" " " FLAGS "${FLAGS}")
string(STRIP "${FLAGS}" FLAGS)
foreach(text COMPILER FLAGS commit)
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" ${text} "${${text}}")
endforeach()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#define NL_BUILD_COMPILER "@COMPILER@"
#define NL_BUILD_FLAGS "@FLAGS@"
#define NL_BUILD_COMMIT "@commit@"
]])
