#!/usr/bin/env bash
# Gradescope runs this once, when the image of the autograder is built: it builds normlab from the sources
# in the bundle. AUTOGRADER: Gradescope's folder. SPDX-License-Identifier: MIT
set -euo pipefail
source=${AUTOGRADER:-/autograder}/source
if ! type gcc cmake make >/dev/null 2>&1 || [ ! -e /usr/include/seccomp.h ] || ! type valgrind >/dev/null 2>&1; then
    apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev cmake make libseccomp-dev valgrind
fi
cmake -S "$source/normlab" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
cmake --build "$source/build" -j --target normlab_program
