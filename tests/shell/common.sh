# Tests that run the program source this file: it reads the program's path, makes an empty work folder, and defines
# functions that print and count checks. The tests end with `summary`.
# SPDX-License-Identifier: MIT
set -u
if [ $# -ne 1 ] || [ ! -x "$1" ]; then echo "usage: $0 path/to/normlab" >&2; exit 2; fi
normlab=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0 failed=0 code=0 under_test=
# A compiler for kernels whose speed does not matter; -O3 would take most of the test's time.
quick=$work/.quick-cc # hidden: tests list this folder
printf '#!/bin/sh\nexec %s "$@" -O1\n' "$(type -P cc gcc clang | head -1)" > "$quick"
chmod +x "$quick"

check() { # check NAME REASON: passes if REASON is empty
    if [ -z "$2" ]; then echo "ok    $1"; passed=$((passed + 1))
    else echo "FAIL  $1: $2"; failed=$((failed + 1)); fi
}
shows() { echo "not so; '$*':"; "$@"; } # shows COMMAND...: prints a REASON, even if COMMAND prints nothing
holds() { check "$1" "$("${@:2}" >&2 || echo "not so: ${*:2}")"; } # holds NAME COMMAND...
run() { "$normlab" "$@" > stdout 2> stderr; code=$?; }
ran() { # ran NAME CODE COMMAND...
    "${@:3}" > stdout 2> stderr; code=$?
    check "$1" "$([ $code -eq "$2" ] || echo "exit code $code, not $2: $(grep -v '^$' stderr | tail -3)")"
}
# exits NAME CODE ARGUMENTS...: runs the program, or its subcommand $under_test, and checks the exit code
exits() { ran "$1" "$2" "$normlab" ${under_test:+"$under_test"} "${@:3}"; }
says() { check "  says '$1'" "$(grep -qF -- "$1" stderr || echo "stderr: $(tail -3 stderr)")"; }
prints() { check "  prints '$1'" "$(grep -qF -- "$1" stdout || echo "stdout: $(head -3 stdout)")"; }
quiet() { check "  nothing on stdout" "$(head -1 stdout)"; }
# answers NAME CODE WORDS ARGUMENTS...: like exits, and checks that stdout has WORDS; reports checks stderr
answers() { exits "$1" "$2" "${@:4}"; prints "$3"; }
reports() { exits "$1" "$2" "${@:4}"; says "$3"; }
refuses() { exits "$1 is refused" 2 "${@:3}"; says "$2"; quiet; } # refuses NAME SAYS ARGUMENTS...
column() { # column NAME [FILE]: prints a column of a CSV; no value may have a comma
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        { print at ? $at : "no column " name }' "${2:-stdout}"
}
full_disk() { # full_disk CODE ARGUMENTS...: expects CODE and a message if stdout cannot be written
    [ -w /dev/full ] || return 1
    "$normlab" "${@:2}" > /dev/full 2> stderr; code=$?
    check "a full disk under $2" "$([ $code -eq "$1" ] || echo "exit code $code")"
    check "  says so" "$(grep -qF "No space left" stderr || shows tail -3 stderr)"
}
interrupts() { # interrupts NAME FILE ARGUMENTS...: Ctrl-C as soon as the program has written to the file
    "$normlab" "${@:3}" > stdout 2> stderr &
    until [ -s "$2" ] || ! kill -0 $!; do sleep 0.1; done
    kill -INT $!
    wait $!; code=$?
    check "$1" "$([ $code -eq 130 ] || echo "exit code $code")"
}
# Runs a command on a terminal, with stderr in a file so that it cannot mix with stdout.
terminal() { # terminal ARGUMENTS...
    python3 -IS -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
        sh -c 'exec "$@" 2> stderr' - "$normlab" "$@" > stdout < /dev/null; code=$?
}
json() { python3 -c "import json, sys; r = json.load(open(sys.argv[1])); print($2)" "$1"; } # json FILE EXPRESSION
summary() {
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ] && [ $passed -gt 0 ]
}
