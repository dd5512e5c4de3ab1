#!/usr/bin/env bash
# Tests `normlab doctor` as a user sees it: every topic appears once, three outputs agree, and findings follow the
# process's CPUs, threads and addresses. Usage: tests/machine/doctor.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES NO_COLOR
skipped=0

skip() { echo "skip  $1: $2"; skipped=$((skipped + 1)); }
csv() { # csv COMMAND...: runs it with --csv, and parses the CSV for `field`
    "$@" --csv >stdout 2>stderr && python3 -IS parse.py >fields 2>>stderr
}
field() { # field TOPIC: "level value"
    grep "^$1 " fields | cut -d' ' -f2-
}

topics='affinity governor turbo core-kinds smt thermal timer frequency interruptions subnormals
openmp load others steal quota throttling huge-pages page-size memory swap numa clocksource
virtualization aslr build tuning'
printf '%s\n' $topics | sort >want

cat >parse.py <<'PYTHON'
import csv
rows = list(csv.reader(open('stdout', newline=''), strict=True))
assert rows[0] == ['topic', 'level', 'value', 'advice'], rows[0]
for topic, level, value, advice in rows[1:]:
    assert level in ('good', 'note', 'bad', 'unknown'), (topic, level)
    assert value and len(value) < 191, topic + ': value empty or cut off: ' + value
    assert len(advice) < 255, topic + ': advice cut off: ' + advice
    assert advice or level != 'bad', topic + ' is bad and nothing is advised'
    print(topic, level, value)
PYTHON

begin=$SECONDS
exits 'the table' 0 doctor
took=$((SECONDS - begin))
check 'it takes seconds at most' "$([ $took -le 5 ] || echo "$took s")"
check 'nothing on stderr' "$(cat stderr)"
check 'no escape codes through a pipe' "$(grep -c $'\033' stdout | grep -v '^0$')"
check 'a summary comes first' \
    "$(head -n 1 stdout | grep -vxE 'doctor: [0-9]+ bad, [0-9]+ notes?, [0-9]+ good, [0-9]+ unknown')"
grep -E '^  [a-z]' stdout | awk '{ print $1 }' | sort >got
check 'every topic once' "$(diff want got)"
check 'lines of at most 100 columns' "$(awk 'length > 100' stdout)"
read -r _ bad _ notes _ good _ unknown _ < <(head -n 1 stdout)
check 'the summary counts the lines' "$(awk -v want="$bad $notes $good $unknown" '
    /^  [a-z]/ { n[$2]++ }
    END { got = n["bad"]+0 " " n["note"]+0 " " n["good"]+0 " " n["unknown"]+0
          if (got != want) print got " not " want }' stdout)"

csv "$normlab" doctor
check 'the CSV parses: levels known, nothing cut off' "$(cat stderr)"
cut -d' ' -f1 fields | sort >got
check 'every topic once in the CSV' "$(diff want got)"

exits 'kept with results: normlab --version' 0 --version
sed -n 's/^doctor \([a-z-]*\): \(good\|note\|bad\|unknown\) .*/\1/p' stdout | sort >got
check 'every topic once there' "$(diff want got)"
check 'and the summary, once' "$([ "$(grep -c '^doctor: ' stdout)" = 1 ] || grep '^doctor: ' stdout)"

refuses 'an argument' "'now'" doctor now

# Output on a terminal has colours, unless NO_COLOR is set.
TERM=xterm terminal doctor
check 'colour on a terminal' "$(grep -q $'\033\\[' stdout || echo 'none')"
TERM=xterm NO_COLOR=1 terminal doctor
check 'NO_COLOR is respected' "$(grep -c $'\033' stdout | grep -v '^0$')"

# The findings follow the process's settings.
cpu=$(taskset -cp $$ 2>taskset.err | sed 's/.*: *\([0-9]*\).*/\1/')
if [ -n "$cpu" ] && taskset -c "$cpu" true 2>/dev/null; then
    csv taskset -c "$cpu" "$normlab" doctor
    check 'taskset to one CPU shows' \
        "$(field affinity | grep -q "^good CPU $cpu: 1 of " || field affinity)"
else
    skip 'taskset to one CPU shows' 'taskset does not work here'
fi
if field openmp | grep -q 'built without OpenMP'; then
    skip 'too many threads show' 'built without OpenMP'
else
    csv env OMP_NUM_THREADS=$(($(getconf _NPROCESSORS_ONLN) + 3)) "$normlab" doctor
    check 'too many threads show' \
        "$(field affinity | grep -qE '^(bad|unknown)' || field affinity)"
    csv env OMP_NUM_THREADS=1 "$normlab" doctor
    check 'one thread shows' \
        "$(field openmp | grep -q ' of 1 thread takes ' || field openmp)"
fi
if field aslr | grep -q '^good' && setarch -R true 2>/dev/null; then
    csv setarch -R "$normlab" doctor
    check 'addresses that are not random show' "$(field aslr | grep -q '^note off' || field aslr)"
else
    skip 'addresses that are not random show' 'setarch -R does not work here'
fi

[ $skipped -eq 0 ] || echo "$skipped skipped"
summary
