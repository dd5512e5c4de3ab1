#!/usr/bin/env bash
# Tests the comparison with the file of largest errors. A larger error, a missing line and a superfluous line are
# failures, and a missing number never passes.
# Usage: tests/verify/errors.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=check
rung=batchnorm/inference part=batchnorm/inference/f32

silent() { check "  and nothing of it" "$(grep -F "$1" stderr)"; }
compares() { exits "$1" "$2" --impl $rung --errors now.csv; } # NAME CODE
# edit AWK-PROGRAM: changes the line for f32 in start.csv, and writes the result to now.csv
edit() {
    awk -F, -v OFS=, -v part="$part,$rung@c" \
        'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } { mine = index($0, part ",") == 1 }
         '"$1" start.csv > now.csv
}

half=batchnorm/inference/f16 bfloat=batchnorm/inference/bf16
line() { grep -n "^$1,.*@c," now.csv | cut -d: -f1; } # PROBLEM: its line number in now.csv
of() { echo "(\$1 == \"$1\" && \$2 ~ /@c\$/)"; } # PROBLEM: a condition for edit
# only IMPL: prints the record's lines of IMPL, with all its instruction sets
only() {
    awk -F, -v OFS=, -v impl=" $1@[^ ]*" 'NR > 1 { if (!match(" " $2, impl)) next; $2 = substr($2, RSTART, RLENGTH - 1) }
        { print }' "$root/tests/largest_errors.csv"
}

# A step of ./check compares the whole suite with the record; this script tests the comparison.
only $rung > start.csv
edit 'mine { $at["normal"] *= 0.99 } '"$(of $half)"' { $at["normal"] *= 2 } { print }
    mine { sub("@c", "@vector9"); print }'
reports "what runs here is put on record, above and below" 0 "now.csv has " --impl $rung --update-errors now.csv
check "  what does not run is kept" "$(grep -q "^$part,$rung@vector9,." now.csv || shows cat now.csv)"
grep -v vector9 now.csv >start.csv
check "  the largest there is, to four digits and rounded up" "$(awk -F, '
    FNR == 1 { split("", at); for (i = 1; i <= NF; i++) { at[$i] = i; name[i] = $i } next }
    FILENAME == "stdout" && $at["verdict"] == "ok" && $at["bound_u"] > 0 {
        kind = $at["data"]; sub(":.*", "", kind)
        if ("/" $at["options"] ~ /\/(gamma|beta|gain|running_mean|running_var)=/) kind = "others"
        key = $at["op"] "/" $at["pass"] "/" $at["dtype"] " " kind
        if (!(key in most) || $at["error_u"] > most[key]) most[key] = $at["error_u"] }
    FILENAME == "start.csv" { for (i = 3; i <= NF; i++) if ($i != "") {
        u = most[$1 " " name[i]]; seen++
        if (u * 0.999999 > $i || $i > u * 1.0011 + 1e-6) print $1, name[i], $i, "for", u } }
    END { if (seen < 20) print seen " compared" }' stdout start.csv)"

sed 's|,batchnorm/inference@c,|,batchnorm/inference@c other/kernel@c,|' start.csv > now.csv
exits "a line of two implementations, of which one is gone" 1 --impl $rung --errors now.csv
says "FAIL other/kernel@c, $part is on record (now.csv:$(line $part)), but there is no such implementation"
says " 3 failed"

edit "$(of $half)"' { $at["normal"] *= 2 } { print } mine { sub("@c", "@vector9"); print }'
compares "as on record, below it, and a line of an ISA that is not here" 0
says " 0 failed"
silent "on normal:"

# never: a kind of data that no check in bf16 uses
never=$(awk -F, 'NR == 1 { split($0, name) } '"$(of $bfloat)"' { for (i = 3; i <= NF; i++) if ($i == "") print name[i] }' \
    start.csv | tail -n 1)
edit 'mine { $at["normal"] *= 0.99; print; $1 = "batchnorm/inference/f64" } '"$(of $half)"' { next }
    '"$(of $bfloat)"' { $at["zeros"] = ""; $at["'"$never"'"] = 1 } { print }
    END { $2 = "zeronorm/old@c"; print }'
compares "an error 1 % above the record, a line and a number missing, and what nothing has" 1
says "FAIL $rung@c, $part on normal: the largest error is "
says " on record (now.csv:$(line $part))"
says "FAIL $rung@c, $half: no line in now.csv"
says "FAIL $rung@c, $bfloat on zeros: the largest error is "
says "nothing is on record (now.csv:$(line $bfloat))"
says "$bfloat on $never: nothing was checked against a bound, but 1 units are on record"
says "batchnorm/inference/f64 is on record"
says "FAIL zeronorm/old@c, "
says "there is no such implementation"
says " 6 failed"
says "If this is intended, run \`normlab check --update-errors now.csv\` and commit"
repeat=$(sed -n 's/.*repeat: normlab check//p' stderr | head -1)
check "a command to repeat it" "$([ "$repeat" ] || shows cat stderr)"
[ "$repeat" ] && cp start.csv now.csv && eval "exits '  which runs' 0 $repeat"

edit 'mine { sub("@c", "@vector9") } mine || NR == 1 { print }'
compares "nothing of this instruction set" 1
says "c has no errors on record"
says "largest errors: 0 compared with now.csv, 0 failed"

# Outputs other than y and dx have separate lines. Instruction sets with the same errors share a line.
other=optimized/batch_backward_simd problem=batchnorm/backward sets=c
! "$normlab" list --csv | cut -d, -f2 | grep -qx sse2 || sets+=" sse2"
only $other | awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $1 ~ "/bf16$" { $at["normal"] *= 0.5 }
    $1 ~ "/dgamma$" { $at["normal"] *= 0.01 } # dgamma has recorded errors far above those of now: an update keeps the largest
    { $at["zeros"] = ""; $at["zeros"] = NR == 1 ? "zeroes" : "" } { print }' > less.csv
exits "errors above the record, and a kind of another name" 1 --errors less.csv \
    --impl "$other@${sets/ /,$other@}"
for set in $sets; do
    says "FAIL $other@$set, $problem/dgamma on normal: the largest error is "
    says "FAIL $other@$set, $problem/bf16 on normal: the largest error is "
    says "FAIL $other@$set, $problem/f32 on zeros: the largest error is "
done

cp start.csv now.csv
refuses "cases beside it" "for the suite" --errors now.csv rmsnorm/forward/f32/3x5/normal
refuses "--impl best" "for the suite" --errors now.csv --impl best
refuses "a missing file" "nowhere.csv: cannot read it" --errors nowhere.csv
edit 'mine { $at["normal"] = "1x" } { print }'
refuses "no number" "normal: '1x' should be a number, at least 0" --errors now.csv
edit 'mine { $at["normal"] = "nan" } { print }'
refuses "NaN" "normal: 'nan' should be a number, at least 0" --update-errors now.csv
edit 'mine { print } { print }'
refuses "a line twice" "is also in line 4" --errors now.csv
edit 'mine { NF-- } { print }'
refuses "a short line" "fields where the header has" --errors now.csv
edit 'mine { sub("@c", "") } { print }'
refuses "a line without an instruction set" "'$rung' has no instruction set" --errors now.csv
sed '1s/impls/eax/' start.csv > now.csv
refuses "another header" "now.csv:1: column 2 is 'eax'" --errors now.csv
: > now.csv
refuses "an empty file" "now.csv:1: column 1 is ''" --errors now.csv
printf 'problem,impls\n\001' > now.csv
refuses "a control character" "now.csv:2: byte 0x01" --errors now.csv
edit 'mine { $2 = "\"a,b\"" } { print }'
refuses "a name in quotes" "impls 'a,b' needs quotes" --errors now.csv
sed '1s/normal/"a,b"/' start.csv > now.csv
refuses "a kind in quotes" "is 'a,b'" --errors now.csv
refuses "a place that cannot be written" "no/such/folder.csv: cannot write it" \
    --update-errors no/such/folder.csv

summary
