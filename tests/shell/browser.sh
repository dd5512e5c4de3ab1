# Tests that open a browser source this file: it changes to the root, makes a work folder, and defines functions.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
# needs_browser WORDS: without a browser the test prints WORDS and ends with 77
needs_browser() {
    for with_browser in python3 /usr/bin/python3; do
        "$with_browser" -c 'import selenium' 2>/dev/null && type chromedriver &>/dev/null && return
    done
    echo "$1: apt-get install chromium-driver python3-selenium"
    exit 77
}
# needs_axe: sets axe to the options for axe-core, if axe-core is installed
needs_axe() {
    axe=$(python3 -c 'import importlib.util as i; print(next(iter(i.find_spec("axe_playwright_python").submodule_search_locations)))' \
        2>/dev/null || true)/axe.min.js
    if [[ -f $axe ]]; then
        axe=(--axe "$axe")
    else
        axe=() && echo "NOT CHECKED with axe-core: pip install --no-deps axe-playwright-python"
    fi
}
# browse SCRIPT ARGUMENT...: runs the script in a Python that has Selenium
browse() {
    "$with_browser" "$@"
}
# sees FAULT...: checks that the browser has named each fault in $folder/said
sees() {
    for fault; do
        grep -qF -- "$fault" "$folder/said" || fail "the browser does not see: $fault" "$(cat "$folder/said")"
    done
}
