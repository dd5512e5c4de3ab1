#!/usr/bin/env bash
# Tests the labs. `normlab lab` writes the files of labs/, and grading finds a lab by number, name or folder. For each
# lab the starting file compiles and is unfinished. On every instruction set that runs here, the solution gets all
# points except those for speed. Each wrong kernel has the failing categories and the hints that its script states:
#     # expect: wrong CATEGORY     # expect: hint TEXT
# CATEGORY may also be `every category` or `every category but CATEGORY`.
# A solution is a file, or a sed script for the starting file. A wrong kernel is a sed script for the solution. Times are
# not tested. Usage: tests/workbench/labs.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset CC NL_ISA NO_COLOR
"$normlab" try "$root/rmsnorm/naive.c" rmsnorm/forward/f32/3x7/normal > stdout 2> stderr ||
    { grep -q 'cannot run the compiler' stderr && { echo "skip  no compiler"; exit 77; }; }
fast=(--seconds 0)
one=1-first-rung

under_test=lab
exits "the list" 0
for page in "$root"/labs/*/README.md; do prints "$(basename "$(dirname "$page")") "; done
check "labs/README.md links to every lab" "$(for page in "$root"/labs/*/README.md; do
    page=$(basename "$(dirname "$page")"); grep -qF "]($page/README.md)" "$root/labs/README.md" || echo "no $page"; done)"
prints "$(sed -n 's/^# //p;q' "$root/labs/$one/README.md")"
exits "a lab by number" 0 1
prints "normlab try $one.c --watch"
prints "normlab grade $one $one.c"
check "  writes its page" "$(diff <(sed "s|]($root/|](../../|g" $one.md) "$root/labs/$one/README.md")"
check "  and a file to begin with" "$(cmp $one.c "$root/labs/$one/start.c" 2>&1)"
check "  and the assignment" "$(cmp $one.txt "$root/labs/$one/assignment.txt" 2>&1)"
echo mine > $one.c
rm $one.md
refuses "a file that is there" "$one.c already exists" 1
check "  is left as it is, and no other is written" "$([ "$(cat $one.c)" = mine ] && [ ! -e $one.md ] || ls)"
refuses "no such lab" "there is no lab '99': \`normlab lab\` lists them" 99
exits "two labs" 2 1 2
exits "one with pictures" 0 reading
check "  its links lead somewhere" "$(grep -o ']([^):#]*' reading.md | sed 's/.*](//' | while read -r to; do
    [[ -z $to || -e $to ]] || echo "$to"; done)"
mkdir away
cp "$normlab" away/normlab
(cd away && ./normlab lab $one > stdout 2> stderr)
check "a copied program has the labs" "$(cmp away/$one.c "$root/labs/$one/start.c" 2>&1)"

under_test=grade
right=$root/labs/solutions/$one.c
for what in 1 $one labs/$one "$root/labs/$one" "$root/labs/$one/assignment.txt"; do
    exits "grade ${what/$root/ROOT}" 0 "${fast[@]}" "$what" "$right"
    prints "$(sed -n 's/^title *//p' "$root/labs/$one/assignment.txt"): $right"
done
mkdir $one # a folder without an assignment is no lab
exits "a folder of the lab's name" 0 "${fast[@]}" $one "$right"
refuses "a folder that is no lab" "the folder away has no assignment.txt" away "$right"
refuses "no file, no lab" "nowhere is no file, no folder and no lab: \`normlab lab\` lists the labs" nowhere "$right"

# The parts of a grade's page, one a line: VERDICT, POINTS, MOST, NAME.
parts() { sed -nE 's/^  (ok|FAIL) +([0-9.e+-]+) of ([0-9.e+-]+) +(.*)/\1\t\2\t\3\t\4/p' stdout; }
expected() { sed -n "s|^# expect: $1 ||p" "$2"; }
points() { sed -nE 's/^([0-9.]+) of [0-9.]+ points$/\1/p' stdout; }
grade_wrong() { # LAB/SCRIPT.c: leaves the grader's output in graded/
    local out=graded/$1
    "$normlab" grade --seconds 0 "$root/labs/${1%/*}" "wrongs/$1" > "$out" 2> "$out.err"
    echo $? > "$out.code"
}
isas=$("$normlab" list --csv | awk -F, '$10 == 1 { print $2 }' | sort -u)
uses_vectors() {
    local header
    for header in $(sed -n 's/^#include "\(.*\)"/\1/p' "$1"); do [ -e "$root/optimized/$header" ] && return; done
    return 1
}

mkdir solutions graded wrongs
for file in "$root"/labs/solutions/*; do
    name=$(basename "${file%.*}")
    case $file in
    *.sed) sed -f "$file" "$root/labs/$name/start.c" ;;
    *) cat "$file" ;;
    esac > "solutions/$name.c"
done
# The wrong kernels are graded first, as many at a time as there are processors.
for script in "$root"/labs/*/wrong/*.sed; do
    name=${script%/wrong/*} name=${name##*/} solution=solutions/$name.c
    mkdir -p "wrongs/$name" "graded/$name"
    made=$name/$(basename "$script" .sed).c
    sed -f "$script" "$solution" > "wrongs/$made"
    check "$name: ${script##*/} changes the solution" "$(cmp -s "wrongs/$made" "$solution" && echo "nothing changed")"
    printf '%s\0' "$made" >> made
done
export -f grade_wrong
export normlab root
CC=$quick xargs -0 -n 1 -P "$(nproc)" bash -c 'grade_wrong "$1"' - < made

for page in "$root"/labs/*/README.md; do
    folder=$(dirname "$page")
    name=$(basename "$folder")
    check "$name: the page says how long it takes" "$(grep -q '^Takes: ' "$page" || echo "no line 'Takes: '")"
    [ -e "$folder/start.c" ] || [ -e "$folder/assignment.txt" ] || [ -e "$folder/wrong" ] || continue
    if grep -q '^bits' "$folder/assignment.txt" && "$normlab" --version | grep -q '^threads: built without OpenMP'; then
        echo "skip  $name: threads"
        continue
    fi
    solution=solutions/$name.c
    wrongs=("$folder"/wrong/*.sed)
    for file in "$folder/start.c" "$folder/assignment.txt" "$solution"; do
        check "  has ${file#"$root"/}" "$([ -e "$file" ] || echo "there is none")"
    done
    check "  has three wrong kernels" "$([ ${#wrongs[@]} -ge 3 ] || echo "only ${#wrongs[@]}")"
    mapfile -t categories < <(sed -nE 's/^(category|bits) +[0-9.]+ +//p' "$folder/assignment.txt" | sed 's/: .*//')

    cp "$folder/start.c" "$name.c"
    # "LEAST MOST": the points of a starting file that is right, but slow
    begins=$(sed -n 's/^# start: \(.*\)\.\./\1 /p' "$folder/assignment.txt")
    CC=$quick run grade "${fast[@]}" "$folder" "$name.c"
    check "$name: the starting file is unfinished" "$([ $code -eq 1 ] || [ -n "$begins" ] || echo "exit code $code")"
    check "  and gets ${begins:-no point}" "$(awk '$1 < $2 || $1 > $3' <<< "$(points) ${begins:-0 0}")"
    check "  compiles without a warning" "$(cat stderr; grep "does not compile" stdout)"
    check "  says TODO" "$(grep -q TODO "$folder/start.c" || echo "no TODO")"

    check "$name: the program does not contain the solution" \
        "$(grep -qaF "$(sed -n 1p "$solution")" "$normlab" && echo "it does")"
    run_on=$(uses_vectors "$solution" && echo "$isas" || echo any) # plain C is compiled alike for all instruction sets
    for isa in $run_on; do
        [ "$isa" = any ] || export NL_ISA=$isa
        # -O3 is tested once. Another compiler gets no -fopenmp, which a lab with `bits` needs.
        [ "$isa" = any ] || [ "$isa" = c ] || grep -q '^bits' "$folder/assignment.txt" || export CC=$quick
        exits "$name: the solution, $isa" 0 "${fast[@]}" "$folder" "$solution"
        unset NL_ISA CC
        check "  has all points" "$(parts | awk -F'\t' '($4 != "speed" && $2 != $3) || $1 != "ok"')"
        check "  in ${#categories[@]} categories" "$([ "$(parts | awk -F'\t' '$4 != "speed" && $4 != "error"' | wc -l)" \
            -eq ${#categories[@]} ] && [ ${#categories[@]} -gt 0 ] || parts)"
    done

    for script in "${wrongs[@]}"; do
        graded=graded/$name/$(basename "$script" .sed).c
        cp "$graded" stdout && cp "$graded.err" stderr
        check "$name: $(basename "$script")" "$([ "$(cat "$graded.code")" = 1 ] ||
            echo "exit code $(cat "$graded.code"): $(tail -3 stderr)")"
        check "  begins with a comment" "$(head -1 "$script" | grep -v '^# ')"
        wrong=$(expected wrong "$script")
        [[ $wrong != "every category"* ]] ||
            wrong=$(printf '%s\n' "${categories[@]}" | grep -vxF "${wrong#every category but }")
        check "  is wrong in: $(paste -sd, <<< "$wrong")" "$(diff <(sort <<< "$wrong") \
            <(parts | awk -F'\t' '$1 == "FAIL" && $4 != "speed" && $4 != "error" { print $4 }' | sort))"
        due=$(parts | awk -F'\t' '$1 == "ok" { sum += $3 } END { print sum + 0 }')
        check "  has the points of the other categories: $due" "$([ "$(points)" = "$due" ] || echo "has $(points)")"
        check "  expects a hint" "$([ -n "$(expected hint "$script")" ] || echo "no 'expect: hint TEXT'")"
        while read -r hint; do prints "$hint"; done < <(expected hint "$script")
    done
done

summary
