#!/usr/bin/env bash
# ./check and ./reproduce refuse a folder that they cannot write to or that another one uses, and an
# environment that pip cannot make.
# Usage: tests/scripts.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/shell/common.sh"
type flock setpriv > /dev/null || exit 77

cp -r "$root"/check "$root"/reproduce "$root"/scripts "$root"/experiments .
mkdir build
refuses() { # NAME WORDS COMMAND...
    "${@:3}" > stdout 2> stderr 9>&-
    code=$?
    check "$1" "$([ $code -eq 2 ] || echo "exit code $code, not 2")"
    says "$2"
}
exec 9> build/lock
flock 9
refuses "check beside another" "Another ./check or ./reproduce runs in" ./check --quick
refuses "reproduce beside another" "Another ./check or ./reproduce runs in" ./reproduce --quick
exec 9>&-

chmod 755 . && touch stdout stderr && chmod a-w build .
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
refuses "check, read-only" "cannot be written to" "${as_user[@]}" ./check --quick
refuses "reproduce, read-only" "cannot be written to" "${as_user[@]}" ./reproduce --quick
chmod u+w . build

# The environment of --peers.
./reproduce --peers --help >stdout 2>stderr
check "reproduce --peers --help" "$(grep -q '^  --peers' stdout || cat stdout stderr)"
check "  installs nothing" "$([ ! -e .venv-peers ] || echo .venv-peers)"
bad_environment() (
    source scripts/setup.sh
    find_python && echo ./no_such_package >bad.txt && make_venv bad bad.txt
)
refuses "a package that cannot be installed" "pip could not install the Python packages of bad.txt" bad_environment
check "  is tried again" "$([ ! -e bad/stamp ] || echo bad/stamp)"
summary
