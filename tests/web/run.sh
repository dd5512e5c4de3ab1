#!/usr/bin/env bash
# The figures of the site: the library in WebAssembly has the bits of the native build, and a browser finds that each
# figure works, but not in a spoilt one. Exit code 77, not run, without node.js or a browser.
# Usage: tests/web/run.sh BUILD, a build of this project; build/site has the site. SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 html=build/site/html
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
type node >/dev/null || { echo "apt-get install nodejs" && exit 77; }
mkdir "$folder/arrays"
for name in x y gamma beta; do cp "experiments/activations/late.$name.npy" "$folder/arrays/$name.npy"; done
echo "layernorm --x x.npy --gamma gamma.npy --beta beta.npy --y y.npy --eps 1e-12" >"$folder/arrays/words"
# shellcheck disable=SC2046
(cd "$folder/arrays" && "$OLDPWD/$build/normlab" judge $(<words) >../report)
"$build/tests/normlab_web" tests/web/cases.txt >"$folder/native"
bits() {
    node tests/web/bits.js $html/figures "$1" "$folder/arrays" "$2"
}
bits "$folder/native" "$folder/report" || fail "the bits differ"
sed '7s/=\(.\)/=x/' "$folder/native" >"$folder/spoilt"
! bits "$folder/spoilt" "$folder/report" &>/dev/null || fail "other bits pass"
! bits "$folder/native" "$folder/native" &>/dev/null || fail "another report passes"

axe=$(python3 -c 'import importlib.util as i; print(next(iter(i.find_spec("axe_playwright_python").submodule_search_locations)))' \
    2>/dev/null || true)/axe.min.js
if [[ -f $axe ]]; then
    axe=(--axe "$axe")
else
    axe=() && echo "NOT CHECKED with axe-core: pip install --no-deps axe-playwright-python"
fi
for python in python3 /usr/bin/python3; do
    "$python" -c 'import selenium' 2>/dev/null && type chromedriver &>/dev/null || continue
    "$python" tests/web/browser.py $html "$build/normlab" "$folder/arrays" ${SHOTS:+--shots "$SHOTS"} "${axe[@]}"
    cp -r $html "$folder/html"
    sed -i 's/f.say("error", digits(r.error, 4))/f.say("error", digits(2 * r.error, 4))/; s/others += /others += 1 + /' "$folder/html/figures/figures.js"
    sed -i 's|<div data-figure="sums">|<img src="http://127.0.0.1:9/x.png" style="min-width: 2000px">&|' "$folder/html/docs/figures.html"
    ! "$python" tests/web/browser.py "$folder/html" "$build/normlab" "$folder/arrays" --brief 2>"$folder/said" ||
        fail "the browser finds nothing wrong with spoilt figures"
    for fault in "digits: an error of" "who: batch" "pixels wide" "asks for http://127.0.0.1:9/x.png" "on the console"; do
        grep -qF -- "$fault" "$folder/said" || fail "the browser does not see: $fault" "$(cat "$folder/said")"
    done
    exit 0
done
echo "the bits are right; to use the figures: apt-get install chromium-driver python3-selenium"
exit 77
