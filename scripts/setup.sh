# Installs what ./reproduce and ./check need and the machine lacks. Both source this file in the
# repository's root, and then call, in this order:
#     own_folder
#     setup quick    installs what both need
#  or setup all      also installs what only ./check --all needs
#     setup_peers    makes .venv-peers, which only ./reproduce --peers needs
# Programs come from apt-get; without it, the script prints what is missing and exits with 2. Python
# packages, and CMake if it is missing or too old, go to .venv* and nowhere else.
# shellcheck shell=bash

# what         | a command that finds it            | apt-get          | dnf             | pacman    | brew
needs='
a C compiler   | includes gcc stdio.h               | gcc libc6-dev    | gcc             | gcc       | gcc
ninja or make  | finds_generator                    | ninja-build      | ninja-build     | ninja     | ninja
pkg-config     | command -v pkg-config              | pkg-config       | pkgconf         | pkgconf   | pkgconf
Criterion      | includes gcc criterion/criterion.h | libcriterion-dev | criterion-devel | criterion | criterion
MPFR           | includes gcc mpfr.h                | libmpfr-dev      | mpfr-devel      | mpfr      | mpfr
python3 (venv) | find_python                        | python3-venv     | python3         | python    | python
'
needs_of_check='
clang          | includes clang stdio.h             | clang libc6-dev  | clang           | clang     | llvm
sanitizers     | sanitizes clang                    | libclang-rt-dev  | compiler-rt     | compiler-rt | llvm
OpenMP (clang) | includes clang omp.h -fopenmp      | libomp-dev       | libomp-devel    | openmp    | libomp
'
# Without these ./check --all leaves out the steps on an emulator, and the test of counted speed.
needs_of_emulation='
a compiler for aarch64 | includes aarch64-linux-gnu-gcc stdio.h              | gcc-aarch64-linux-gnu libc6-dev-arm64-cross
emulators              | command -v qemu-aarch64 && command -v qemu-x86_64 | qemu-user
counted speed          | command -v valgrind                               | valgrind
'
# Without OpenBLAS the study model_step fails, and so does ./reproduce.
needs_of_models='
OpenBLAS | python3 -c "import ctypes.util as u; exit(not u.find_library(\"openblas\"))" | libopenblas0-pthread
'
# Without a C++ compiler ./reproduce --peers leaves out PyTorch.
needs_of_peers='
a C++ compiler | command -v g++ | g++ | gcc-c++ | gcc | gcc
'
# Without Python.h ./check --all leaves out the Python package, and ./reproduce --peers fails.
needs_of_package='
Python.h | python_headers | python3-dev
'
# Unless both MPIs are installed, ./check --all leaves out the rungs across ranks.
needs_of_ranks='
OpenMPI | command -v mpirun.openmpi && command -v mpicc.openmpi | libopenmpi-dev openmpi-bin
MPICH   | command -v mpirun.mpich && command -v mpicc.mpich     | libmpich-dev mpich
'
# Without libseccomp, checked kernels can reach files and other processes.
needs_of_isolation='
libseccomp | includes gcc seccomp.h | libseccomp-dev
'
# Without these packages ./check --all makes the report and the site, but does not test them in a browser.
needs_of_browser='
node.js   | command -v node                       | nodejs
a browser | command -v chromedriver               | chromium-driver
Selenium  | /usr/bin/python3 -c "import selenium" | python3-selenium
'
cmake_oldest=3.25 cmake_pinned=3.31.10

finds_generator() {
    command -v ninja || command -v make
}

includes() { # COMPILER HEADER [FLAG...]
    "$1" "${@:3}" -fsyntax-only -x c - <<<"#include <$2>"
}

sanitizes() { # COMPILER: has it ThreadSanitizer and libFuzzer?
    "$1" -fsanitize=thread -o /dev/null -x c - <<<'int main(void) { return 0; }' &&
        "$1" -fsanitize=fuzzer -o /dev/null -x c - <<<'int LLVMFuzzerTestOneInput(void) { return 0; }'
}

find_python() { # sets python to one that can create .venv
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' && return
    done
}

python_headers() {
    find_python && [[ -f $("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h ]]
}

cmake_is_new() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
    [[ $version && $(printf '%s\n' $cmake_oldest "$version" | sort -V | head -n 1) == "$cmake_oldest" ]]
}

# Fails if the folder cannot be written, or while another run uses it, because two runs would mix their
# builds. The lock lasts as long as any process of this run.
own_folder() {
    if ! mkdir -p build 2>/dev/null || ! [[ -w . && -w build ]]; then
        echo "$PWD cannot be written to, but ./check and ./reproduce write build/, results/ and .venv/ there: copy it" >&2
        exit 2
    fi
    command -v flock >/dev/null || return 0
    exec 9>build/lock
    flock -n 9 && return
    echo "Another ./check or ./reproduce runs in $PWD: wait for it, or use another copy" >&2
    exit 2
}

find_missing() { # TABLE: sets missing, and packages for each manager
    local name test names i
    missing='' packages=('' '' '' '')
    while IFS='|' read -r name test names; do
        if [[ ! $name ]] || eval "$test" &>/dev/null; then continue; fi
        read -r name <<<"$name"
        missing+="${missing:+, }$name"
        for i in 0 1 2 3; do
            read -r test <<<"${names%%|*}"
            packages[i]+=" $test"
            names=${names#*|}
        done
    done <<<"$1"
}

get_programs() { # TABLE
    find_missing "$1"
    [[ $missing ]] || return 0
    echo "Missing: $missing"
    local -a root_do=(env DEBIAN_FRONTEND=noninteractive)
    ((EUID == 0)) || root_do=(sudo "${root_do[@]}")
    if ! command -v apt-get >/dev/null || ! command -v "${root_do[0]}" >/dev/null; then
        echo "Install what is missing, and run this again:"
        echo "    Debian, Ubuntu  apt-get install${packages[0]}"
        echo "    Fedora          dnf install${packages[1]}"
        echo "    Arch            pacman -S${packages[2]}"
        echo "    macOS           brew install${packages[3]}"
        exit 2
    fi
    echo "Installing with apt-get:${packages[0]}"
    "${root_do[@]}" apt-get -qq update || true # a broken apt source may not matter for these packages
    # shellcheck disable=SC2086
    "${root_do[@]}" apt-get -qq install -y --no-install-recommends ${packages[0]} >/dev/null
    find_missing "$1"
    [[ $missing ]] || return 0
    echo "Still missing after apt-get: $missing" >&2
    exit 2
}

make_venv() { # FOLDER REQUIREMENTS [PACKAGE...]: makes FOLDER, anew if its packages changed; keeps a link that works
    local stamp
    [[ ! -L $1 ]] || ! "$1/bin/python" -c '' || return 0
    stamp=$(echo "$PWD" "${@:3}" && "$python" --version && cat "$2")
    if [[ $stamp != "$(cat "$1/stamp" 2>/dev/null)" ]] || ! "$1/bin/python" -c ''; then
        echo "Making $1 from $2 ${*:3}"
        rm -rf "$1"
        if ! "$python" -m venv "$1" ||
            ! "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2" "${@:3}"; then
            echo "pip could not install the Python packages of $2" >&2
            exit 2
        fi
        echo "$stamp" >"$1/stamp"
    fi
}

get_venv() {
    local -a extra=()
    PATH=${PATH//"$PWD/.venv/bin:"/}
    find_python 2>/dev/null
    cmake_is_new || extra=("cmake==$cmake_pinned")
    make_venv .venv requirements.txt "${extra[@]}"
    export PATH=$PWD/.venv/bin:$PATH
}

get_optional() { # TABLE...: installs what apt-get has; without apt-get, nothing
    local table
    ! command -v apt-get >/dev/null || for table; do (get_programs "$table"); done
}

setup() { # quick | all
    [[ $1 != all ]] || needs+=$needs_of_check
    get_programs "$needs"
    get_optional "$needs_of_models" "$needs_of_isolation"
    [[ $1 != all ]] || get_optional "$needs_of_emulation" "$needs_of_package" "$needs_of_ranks" "$needs_of_browser"
    get_venv
    ! command -v ninja >/dev/null || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja} # less overhead than make
}

setup_peers() { # after setup
    get_optional "$needs_of_peers" "$needs_of_package"
    [[ -e .venv-peers/stamp ]] || echo "PyTorch from PyPI includes 5 GB of CUDA, which is not used, and takes minutes to install." \
        "PIP_EXTRA_INDEX_URL can name an index of its CPU wheels."
    make_venv .venv-peers requirements-peers.txt
}

command_of() { # EXPERIMENT: the command in its line "# command: bench", "# command: check" or "# command: study"
    sed -nE 's/^# *command: *(bench|check|study) *$/\1/p' "$1"
}

quick_of() { # EXPERIMENT: the cases in its line "# quick: CASES", or the file
    sed -n 's/^# *quick: *//p' "$1" | grep . || echo "$1"
}

# Checks the quick cases of every experiment, in one call. A study has no cases.
check_experiments() { # PROGRAM [--quick]
    local file cases=() all=()
    for file in experiments/*.txt; do
        [[ $(command_of "$file") != study ]] || continue
        read -ra cases < <(quick_of "$file")
        all+=("${cases[@]}")
    done
    "$1" check "${@:2}" "${all[@]}"
}
