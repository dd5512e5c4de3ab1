#!/usr/bin/env bash
# ./check and ./reproduce refuse a folder that they cannot write to or that another one uses, and an
# environment that pip cannot make. The scripts that write results into pages refuse damaged ones.
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
refuses "check beside another" "Another ./check or ./reproduce runs in" ./check
refuses "reproduce beside another" "Another ./check or ./reproduce runs in" ./reproduce --quick
exec 9>&-

chmod 755 . && touch stdout stderr && chmod a-w build .
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
refuses "check, read-only" "cannot be written to" "${as_user[@]}" ./check
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

# Damaged results end a script with one line, and leave the pages alone.
mkdir pages given && cp -r "$root"/{README.md,docs,plots,scripts,experiments} pages && mkdir -p pages/harness/timing
cp "$root"/harness/timing/modes.c pages/harness/timing
cp -r pages as_it_was
head -c 300 "$root"/docs/machines/zen5.csv >cut.csv
{ head -1 "$root"/docs/machines/zen5.csv && printf '\xff\xfe,a,b,c,d,e,f\n'; } >other.csv
printf 'name,value\n"never closed,1\n' >open.csv
: >empty.csv
mkdir folder.csv
bad_results() { # SCRIPT NAME OPTION...: of results/NAME.csv
    local file
    for file in cut other open empty folder; do
        rm -rf given/"$2".csv && cp -r $file.csv given/"$2".csv && echo "cpu: x" >given/"$2".machine.txt
        python3 pages/scripts/"$1".py "${@:3}" given/"$2".csv >stdout 2>stderr
        check "$1.py, $file.csv" "$([ $? -eq 1 ] && [ "$(wc -l <stderr)" -eq 1 ] || echo "it says: $(tail -2 stderr)")"
    done
}
bad_results claims claims
bad_results peers peers
bad_results museum museum --program "$normlab"
bad_results readme ladder --program "$normlab"
bad_results machines regret --add zen0
cp cut.csv given/frameworks.csv
python3 pages/scripts/frameworks.py given >stdout 2>stderr
check "frameworks.py, cut.csv" "$([ $? -eq 1 ] && [ "$(wc -l <stderr)" -eq 1 ] || echo "it says: $(tail -2 stderr)")"
check "  no page has changed" "$(diff -rq as_it_was pages | grep -v __pycache__)"
summary
