#!/usr/bin/env bash
# Tests the figures of the site. The library in WebAssembly must give the bits of the native build, each figure must
# work in a browser, and both tests must find planted faults. Exit code 77 (not run) without node.js or a browser.
# Usage: tests/web/run.sh BUILD, a build of this project; build/site has the site. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../shell/browser.sh"
build=$1 html=build/site/html
type node >/dev/null || { echo "apt-get install nodejs" && exit 77; }
mkdir "$folder/arrays"
for name in x y gamma beta; do cp "experiments/activations/late.$name.npy" "$folder/arrays/$name.npy"; done
echo "layernorm --x x.npy --gamma gamma.npy --beta beta.npy --y y.npy --eps 1e-12" >"$folder/arrays/words"
small() { # FOLDER SED: two rows of four values; sed damages the headers
    mkdir "$folder/$1" && echo "layernorm --x x.npy --y y.npy" >"$folder/$1/words"
    for name in x y; do
        {
            head -c 128 "$folder/arrays/$name.npy" | LC_ALL=C sed "s/(217, 384), }    /(2, 4), }        /; $2"
            head -c 160 "$folder/arrays/$name.npy" | tail -c 32
        } >"$folder/$1/$name.npy"
    done
}
small nan "" && printf '\0\0\300\377' | dd of="$folder/nan/x.npy" bs=1 seek=156 conv=notrunc status=none
small short "" && truncate -s 156 "$folder/short/x.npy"
small shape "s/(2, 4), } \{26\}/(2, 999999999999999999999999999), }/"
for name in arrays nan short shape; do
    # shellcheck disable=SC2046
    (cd "$folder/$name" && "$OLDPWD/$build/normlab" judge $(<words) >"../$name.report" 2>&1) || [[ $name != arrays ]]
done
grep -q 'mean nan' "$folder/nan.report" && grep -q addresses "$folder/shape.report" || fail "the judge does not name the damage of the arrays"
"$build/tests/normlab_web" tests/web/cases.txt >"$folder/native"
bits() {
    node tests/web/bits.js $html/figures "$1" "$folder"/{arrays,nan,short,shape}
}
bits "$folder/native" || fail "the bits differ"
sed '7s/=\(.\)/=x/' "$folder/native" >"$folder/spoilt"
! bits "$folder/spoilt" &>/dev/null || fail "other bits pass"
sed -i 's/nan/-nan/' "$folder/nan.report"
! bits "$folder/native" &>/dev/null || fail "another report passes"

needs_browser "the bits are right; to use the figures"
needs_axe
browse tests/web/browser.py $html "$build/normlab" "$folder/arrays" ${SHOTS:+--shots "$SHOTS"} "${axe[@]}"
cp -r $html "$folder/html"
sed -i 's/f.say("error", digits(r.error, 4))/f.say("error", digits(2 * r.error, 4))/; s/others += /others += 1 + /' "$folder/html/figures/figures.js"
sed -i 's|<div data-figure="sums">|<img src="http://127.0.0.1:9/x.png" style="min-width: 2000px">&|' "$folder/html/docs/figures.html"
! browse tests/web/browser.py "$folder/html" "$build/normlab" "$folder/arrays" --brief 2>"$folder/said" ||
    fail "the browser finds nothing wrong with spoilt figures"
sees "digits: an error of" "who: batch" "pixels wide" "asks for http://127.0.0.1:9/x.png" "on the console"
