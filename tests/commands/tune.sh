#!/usr/bin/env bash
# Tests `normlab tune` and the file that NL_TUNING names: the keys follow from the measurements, and nl_best() obeys the
# keys. No time is asserted. Usage: tests/commands/tune.sh PROGRAM
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset NL_TUNING NL_ISA
best() { # THREADS SHAPE [OPTIONS]: what nl_best() picks
    "$normlab" check --impl best --threads "$1" "layernorm/forward/f32/$2/normal${3-}" 2>stderr | sed -n '2s/^[^,]*,\([^,]*\),.*/\1/p'
}
picks() { # WHAT NAME THREADS SHAPE [OPTIONS]
    local name
    name=$(best "${@:3}")
    check "$1" "$([ "$name" = "optimized/$2" ] || { echo "$name"; head -3 stderr; })"
}

# Tests the effect of the file.
export NL_TUNING=$work/tuning.txt
printf 'stream_bytes 262144\nfork_forward 65536\n' >tuning.txt
picks "below stream_bytes: ordinary" rows_pipelined 1 63x1024
picks "from stream_bytes on: streaming" rows_streaming 1 64x1024
picks "in place: ordinary" rows_pipelined 1 64x1024 /in-place
picks "below fork_forward: one thread" rows_pipelined 2 63x1024
picks "from fork_forward on: threads" rows_threaded 2 64x1024
used() { # COMMAND SHAPE: how many of two threads rows_threaded used
    "$normlab" "$@" --threads 2 --impl optimized/rows_threaded 2>stderr | awk -F, 'NR == 2 { print $4 }'
}
several=$("$normlab" --version | grep -q 'threads: OpenMP' && echo 2 || echo 1)
for command in check 'bench --seconds 0.001'; do
    # shellcheck disable=SC2086
    holds "$command: below fork_forward, the row has one thread" test "$(used $command layernorm/forward/f32/63x1024/normal)" = 1
    # shellcheck disable=SC2086
    holds "$command: from there on, two" test "$(used $command layernorm/forward/f32/64x1024/normal)" = "$several"
done
printf 'stream_bytes 18446744073709551615\nfork_forward 18446744073709551615\n' >tuning.txt
picks "never is never" rows_pipelined 2 64x1024
printf '# a comment\n\n  # another\r\n\r\n fork_forward\t1 \r\n' >tuning.txt
picks "comments and blanks" rows_threaded 2 2x1024

# A bad file is rejected, and the message names the line; tests/commands/tune.c has more bad files.
printf 'fork_forward 1\n# fine\nnonsense\n' >tuning.txt
refuses "a bad line" "tuning.txt:3:" check --impl best layernorm/forward/f32/2x4/normal
NL_TUNING=$work/none.txt refuses "a file that is not there" "none.txt': No such file" list
NL_TUNING=$work/none.txt exits "the doctor reports it" 0 doctor --csv
holds "  as bad" grep -q '^tuning,bad,.*none.txt' stdout
NL_TUNING=$work exits "a folder is refused" 2 list
NL_TUNING='' exits "empty is unset" 0 list

# Tests measuring. tune ignores tuning.txt, which is bad.
exits "tune" 0 tune --quick --seconds 0.001 --out new.txt
cp stdout measured
holds "says how to use it" grep -qF "export NL_TUNING='$work/new.txt'" stderr
holds "six keys" test "$(grep -v '^#' new.txt | cut -d' ' -f1 | paste -sd ' ')" = \
    "stream_bytes stream_backward stream_batch fork_forward fork_backward fork_batch"
holds "the sizes double" awk '$1 ~ /^[0-9]+$/ { if (n++ && $1 != 2 * last) exit 1; last = $1 }
    !NF { n = 0 } END { if (!last) exit 1 }' measured
# For each question "KEY: FIRST or SECOND?": from the size found to the largest size, FIRST wins or the verdict is "not
# resolved".
follows() {
    awk '/: .* or .*\?$/ { key = substr($1, 1, length($1) - 1); first = $2; n = again = 0; next }
        $1 == "again" { again++ }
        key && $1 ~ /^[0-9]+$/ { size[++n] = $1; rest = $0; sub(/.* to *[^ ]+ +/, "", rest); won[n] = rest }
        key && $1 == key {
            want = "18446744073709551615"
            for (i = n; i && (won[i] == first || won[i] == "not resolved"); i--)
                if (won[i] == first) want = size[i]
            if ($0 ~ / stays: .* second test$/) { if (!again) exit 1 }
            else if ($0 ~ / stays: /) { if (n && (want !~ /^1844/ || won[n] != "not resolved")) exit 1 }
            else if ($2 != want) exit 1
            seen++
        }
        END { if (seen != 6) exit 1 }' "$1"
}
holds "the keys follow from what was measured" follows measured
holds "and are what is written" test "$(sed -nE 's/^((stream|fork)_[a-z]+ [0-9]+).*/\1/p' measured)" = \
    "$(grep -v '^#' new.txt)"
export NL_TUNING=$work/new.txt
exits "the file is read back" 0 list
holds "list shows it" test "$(paste -sd' ' stdout | sed -n 's/.*tuning of nl_best() is NL_TUNING: //p')" = \
    "$(grep -v '^#' new.txt | sed 's| 18446744073709551615$| never|' | paste -sd, | sed 's|,|, |g')"
NL_TUNING='' run list
holds "and the defaults" grep -q '^tuning of nl_best() is defaults: stream_bytes ' stdout

exits "without --out" 0 tune --quick --seconds 0.001 --threads 1
holds "the file is stdout" test "$(grep -c . stdout)" -eq 7
holds "what was measured is on stderr" grep -q 'streaming or ordinary' stderr
holds "one thread: says so" test "$(grep -cE '^fork_.* stays: there is one thread' stderr)" -eq 3
holds "and leaves the keys" test "$(grep ^fork stdout)" = "$(grep ^fork new.txt)"

cp new.txt kept.txt
for out in new.txt fresh.txt; do
    "$normlab" tune --out $out --seconds 5 >stdout 2>stderr &
    sleep 2
    kill -INT $!
    wait $!
    holds "Ctrl-C: exit code 130" test $? -eq 130
done
holds "Ctrl-C: the file is as it was" cmp new.txt kept.txt
holds "Ctrl-C: no file where there was none" test "$(ls -A | grep -cE 'fresh|part')" -eq 0

exits "a case is refused" 2 tune some/case
refuses "a file that cannot be written" 'cannot write no/such/folder.txt: No such file' tune --out no/such/folder.txt
full_disk 1 tune --quick --threads 1 --seconds 0.001 --out /dev/full

summary
