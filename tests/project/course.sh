#!/usr/bin/env bash
# Tests scripts/course.py, which fills a chapter with code, and refuses one that lacks a part or has outdated code.
# Usage: tests/project/course.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
type python3 >/dev/null || exit 77
cp -r "$root/scripts" . && mkdir plots docs docs/course docs/pictures docs/pictures/course core labs labs/1-one experiments
cp "$root"/plots/{rungs,files}.py plots && touch plots/picture.png docs/pictures/course/0{0,4}.svg experiments/ladder.txt labs/1-one/README.md
printf '%s\n' 'int twice(int x);' '' 'int twice(int x)' '{' '    return 2 * x;' '}' '' 'int y;' >core/twice.c
sed 's/2 \* x/x + x/' core/twice.c >core/sum.c
printf '%s\n' '# Contents' '' '<!-- contents:begin -->' '<!-- contents:end -->' >docs/course/README.md
printf '%s\n' '# 0. How' '' 'Read it.' '' '![all of it](../pictures/course/00.svg)' >docs/course/00-how.md
cat >docs/course/04-twice.md <<'TEXT'
# 4. Twice

Two is more than one. So we double.

![one and one](../pictures/course/04.svg)

<!-- code: core/twice.c twice -->

<!-- code: core/twice.c "int y" "int y" -->

<!-- diff: core/twice.c core/sum.c twice -->

<!-- gcc VERSION: cc -S -o - core/sum.c | grep globl -->

![a picture of twice](../../plots/picture.png)

Drawn by `./reproduce --slides`.

## Experiment

What you will see is one line, whose verdict is ok, since the rung is right.

    NL_ISA=c normlab check rmsnorm/forward/f32/3x4/normal --impl 'rmsnorm/*' | cut -d, -f1
    normlab bench 'layernorm/forward/f32/3x{4..8}/normal{,/cold}' --impl '*/naive,best' --quick

## Questions

**1.** Why?

<details><summary>Answer</summary>

For a reason that takes five words.

</details>

**2.** Why?

<details><summary>Answer</summary>

For a reason that takes five words.

</details>

**3.** Why?

<details><summary>Answer</summary>

For a reason that takes five words.

</details>

## Sources

Nobody said it; checked with two fingers and two more fingers, in this room.
TEXT
version=$(python3 -c 'import sys; sys.path.insert(0, "scripts"); import course; print(course.compiler() or "0.0")')
sed -i "s/gcc VERSION/gcc ${version%.*}/" docs/course/04-twice.md
normlab=$(dirname "$normlab")
update=(python3 scripts/course.py --update)
checks() { ran "$1" "$2" python3 scripts/course.py --check --program "$normlab/normlab"; } # NAME CODE
# refuses NAME SED WORDS: after SED has changed a chapter, the check fails and prints WORDS.
refuses() {
    cp docs/course/04-twice.md right.md
    sed -i -E "$2" docs/course/04-twice.md
    checks "$1" 1
    says "$3"
    mv right.md docs/course/04-twice.md
}

checks "a chapter without its code is refused" 1
says "out of date: run scripts/course.py --update"
ran "update" 0 "${update[@]}"
for line in '    return 2 \* x;' '-    return 2 \* x;' '\+    return x \+ x;' 'int y;' 'Previous: \[0\. How\]\(00-how.md\) .* Lab: \[1-one\].*'; do
    check "  puts in $line" "$(grep -qxE -- "$line" docs/course/04-twice.md || shows tail -n 50 docs/course/04-twice.md)"
done
check "  and the contents" "$(grep -qF '| [4. Twice](04-twice.md) | Two is more than one. So we double. |' \
    docs/course/README.md || shows cat docs/course/README.md)"
cp -r docs/course once
ran "update again" 0 "${update[@]}"
check "  changes nothing" "$(diff -r once docs/course)"
checks "a whole chapter" 0
prints "2 chapters, 2 commands"

refuses "code that drifted" 's/return 2/return 3/' "out of date"
refuses "a function that is gone" 's/twice.c twice/twice.c thrice/' "core/twice.c should have one function thrice, but has 0"
[ "$version" = 0.0 ] || refuses "another output of the compiler" 's/^.globl.twice|\.globl +twice/&d/' "out of date"
[ "$version" = 0.0 ] || refuses "a command that prints nothing" 's/grep globl/grep glibl/' "prints nothing: cc -S"
refuses "functions without a difference" 's/core.sum.c/core\/twice.c/' "twice is the same in core/twice.c and core/twice.c"
refuses "a file that is gone" 's/twice.c twice/once.c twice/' "core/once.c does not exist"
refuses "another number" 's/^# 4/# 5/' 'begins with "# 4. TITLE"'
refuses "no idea" 's/^Two is.*/- Two/' "the idea, in two or three sentences"
refuses "no mechanism" 's/^!\[one and.*//' "shows its mechanism"
refuses "no picture" 's/^!\[a pic.*//' "a picture with a description"
refuses "a picture that is gone" 's/picture.png/gone.png/' "links to ../../plots/gone.png"
refuses "no command for the picture" 's/.\.\/reproduce --slides.//' "the command that makes it"
refuses "an experiment without its outcome" 's/^What you will see.*//' "says first what to expect"
refuses "two questions" 's/^## Sources/&/; 0,/<details>/s/<details>//' "three questions"
refuses "no sources" 's/^Nobody said.*//' "a section Sources"
refuses "a link to nowhere" 's/two fingers/[two](fingers.md)/' "links to fingers.md"
refuses "another last line" 's/^Previous: .*\[0/Previous: [1/' "out of date"
refuses "a command that is none" 's/normlab check/normlab chekc/' "chekc is no command"
refuses "an option that is none" 's/--quick/--quik/' "--quik is no option"
refuses "a case that is none" 's/f32\/3x4/f31\/3x4/' "f31"
refuses "an implementation that is none" "s/'rmsnorm.\*'/rmsnorm\/nosuch/" "no implementation is called 'rmsnorm/nosuch'"
refuses "a study that is none" 's/normlab check/normlab study nosuch/' "nosuch is no study"
refuses "a claim that is none" 's/normlab check/normlab claims nosuch/' "nosuch is no claim"

# In the real chapters terms.py must find a term used before its explanation, but accept a link to the explanation.
rm -r docs/course && cp -r "$root/docs/course" docs/course
ran "the terms of the course" 0 python3 scripts/terms.py
sed -i '0,/^## /s/^## /The ulp of it.\n\n&/' docs/course/01-*.md
ran "a term before it is explained" 1 python3 scripts/terms.py
says "uses 'ulp' before 07-"
sed -i 's/^The ulp of it/The [ulp](08-floating-point.md#rounding) of it/' docs/course/01-*.md
ran "  as a link" 0 python3 scripts/terms.py
sed -i 's/\*false sharing\*/false sharing/; s/False sharing\.\*\*/False sharing**/' docs/course/14-*.md
ran "a term that nothing explains" 1 python3 scripts/terms.py
says "nothing explains false sharing"

# Checks the pictures of the mechanisms.
python3 scripts/mechanisms.py && echo >>docs/pictures/course/05.svg
ran "a picture that was edited" 1 python3 scripts/mechanisms.py --check
says "docs/pictures/course/05.svg is out of date"

# An exam with other numbers has as many answers as questions. The first answer about LayerNorm is the reference's.
if python3 -c 'import numpy' 2>/dev/null; then
    exam() { python3 scripts/exam.py --program "$normlab/normlab" "$@" >stdout 2>stderr; }
    for seed in 7 8; do exam --seed $seed --questions 12 --out exam$seed || shows cat stderr; done
    check "an exam of twelve" "$(for part in questions answers; do
        [ "$(grep -c '^[0-9]*\. ' exam7/$part.md)" -eq 12 ] || echo "$part: $(grep -c '^[0-9]*\. ' exam7/$part.md)"; done)"
    check "  another seed gives another exam" "$(! cmp -s exam7/questions.md exam8/questions.md || echo "the same")"
    exam --seed 7 --chapters 4 --out exam4
    check "  a row of LayerNorm, computed again" "$(python3 - <<'PY'
import re
row, y = (re.search(pattern, open(f"exam4/{part}.md").read())[1].replace("\u2212", "-").split(", ")
          for part, pattern in (("questions", "The row (.*?), eps"), ("answers", r"1\. (.*)")))
x = [float(v) for v in row]
mean = sum(x) / len(x)
sigma = (sum((v - mean) ** 2 for v in x) / len(x)) ** 0.5
if any(abs((v - mean) / sigma - float(got)) > 1e-3 for v, got in zip(x, y)): print(row, y)
PY
)"
fi
summary
