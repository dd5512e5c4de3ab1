# The library for the figures of the site (web/README.md): core/, the rungs for plain C, the reference, the
# data, the check and the judge, with web/web.h as its interface.
set(harness harness)
file(GLOB web CONFIGURE_DEPENDS web/*.c reference/*.c harness/judge/*.c harness/base/npy*.c)
list(FILTER web EXCLUDE REGEX "/(hint|method|samples|npy_write)[.]c$")
foreach(file base/random base/stats base/clock cases/case cases/data cases/kinds
        cases/museum cases/names cli/arrays cli/options cli/terminal
        commands/cmd_judge models/network verify/answer verify/bound verify/expected verify/instance
        verify/outputs)
    list(APPEND web harness/${file}.c)
endforeach()
add_executable(normlab_web ${web} $<TARGET_OBJECTS:normlab_core> ${NL_OBJECTS})
set_target_properties(normlab_web PROPERTIES OUTPUT_NAME normlab SUFFIX .wasm)
target_include_directories(normlab_web BEFORE PRIVATE web/wasi)
target_include_directories(normlab_web PRIVATE include core reference harness web)
target_link_libraries(normlab_web PRIVATE normlab_flags)
target_link_options(normlab_web PRIVATE -mexec-model=reactor -Wl,--strip-all)
