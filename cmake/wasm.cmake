# The toolchain of the preset `wasm`: the clang and C library of the package ziglang, which
# requirements-site.txt pins. PYTHON: the Python that has this package; by default .venv-site's.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(python $ENV{PYTHON})
if(NOT python)
    set(python ${CMAKE_CURRENT_LIST_DIR}/../.venv-site/bin/python)
endif()
execute_process(COMMAND ${python} -c "import ziglang; print(ziglang.__path__[0])"
    OUTPUT_VARIABLE zig OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_C_COMPILER ${zig}/zig cc)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
