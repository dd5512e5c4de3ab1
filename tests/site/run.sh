#!/usr/bin/env bash
# Builds the site, which must load nothing from other hosts. A browser must find no fault in the site, and must find
# each planted fault. A dead link or an unknown formula must stop the build. Exit code 77 (not run) without a browser.
# Usage: tests/site/run.sh PYTHON, which needs the packages of requirements-site.txt. SPDX-License-Identifier: MIT
. "$(dirname "$0")/../shell/browser.sh"
python=$1
"$python" scripts/website.py --out build/site || fail "the site is not built"
html=build/site/html
foreign=$(grep -rhoE '<(script|link|img|iframe)[^>]*(src|href)="?(https?:)?//[^>]*' "$html" --include=*.html | grep -v 'rel="canonical"' | head -n 3) || true
[[ ! $foreign ]] || fail "the pages load from other hosts: $foreign"
(($(grep -c '^Parameters$' $html/api/python.html) > 15)) || fail "the page of the Python package lacks parameters"

# Pages that must stop the build.
mkdir -p "$folder/copy/docs/course" "$folder/copy/plots"
cp -r scripts include python "$folder/copy" && cp plots/*.py "$folder/copy/plots"
for name in README.md CONTRIBUTING.md docs/README.md docs/course/README.md python/README.md; do
    echo "# Empty" >"$folder/copy/$name"
done
build() { # TEXT: builds a site with a page of this text
    printf '# A page\n\n%s\n' "$1" >"$folder/copy/docs/page.md"
    "$python" "$folder/copy/scripts/website.py" --out "$folder/out" >"$folder/said" 2>&1
}
spoil() { # WORDS TEXT: the build must refuse TEXT with WORDS
    ! build "$2" || fail "the build accepts $2"
    grep -qF -- "$1" "$folder/said" || fail "the build does not name the fault in $2: $(tail -n 5 "$folder/said")"
}
build 'A [link](README.md#empty), and $x^2$.' || fail "no site: $(tail -n 5 "$folder/said")"
spoil "links to gone.md, which does not exist" 'A [link](gone.md).'
spoil "does not contain an anchor '#gone'" 'A [link](README.md#gone).'
spoil '\nosuch cannot be shown' 'A formula, $\nosuch{x}$.'

needs_browser "the site is built; to look at it"
pages=(index.html docs/index.html docs/claims.html docs/judge.html docs/course/{01-why-normalize,whole}.html api/{normlab,python}.html
    layernorm/naive.c.html)
browse tests/site/browser.py "$html" "${pages[@]}" ${SHOTS:+--shots "$SHOTS"}
sed 's|</article>|<p>raw [text](there) and ```</p><math></math><div style="width: 2000px">wide</div><img src="http://127.0.0.1:9/x.png"></article>|' \
    "$html/docs/course/01-why-normalize.html" >"$html/docs/course/spoilt.html"
! browse tests/site/browser.py "$html" docs/course/spoilt.html 2>"$folder/said" || fail "no fault found in a spoilt page"
rm "$html/docs/course/spoilt.html"
sees "pixels wide" "no picture" "an empty formula" "not read: ['](there)', '\`\`\`']" "asks for http://127.0.0.1:9/x.png" "on the console"
