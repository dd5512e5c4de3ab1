#!/usr/bin/env bash
# Tests ./reproduce with a fake compiler, a fake program and a fake Python: the results that it keeps, and its messages
# if it cannot keep them. Usage: tests/project/reproduce.sh PROGRAM (which is not used).
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
packages=.venv-peers/lib/python3.12/site-packages
mkdir -p scripts experiments build/{release,peers} .venv{,-peers}/bin bin python/normlab $packages/normlab
touch python/normlab/new.py $packages/normlab/old.py
cp "$root/reproduce" .
{
    printf '%s() { :; }\n' setup own_folder get_venv
    echo 'setup_peers() { echo setup_peers >>called; }' && sed -n '/^\(command\|quick\)_of()/,/^}/p' "$root/scripts/setup.sh"
} >scripts/setup.sh
echo '# command: bench' | tee experiments/one.txt >experiments/two.txt
echo '# quick: a/few cases' >>experiments/two.txt
printf '# command: study\n# takes: 9 s, untimed\n' | tee experiments/{four,six}.txt >experiments/five.txt
printf '# command: bench\n# impl: best,peer/*\n' >experiments/peers.txt
cat >build/release/normlab <<'SH'
#!/usr/bin/env bash
echo "${NL_TUNING##*/} $*" >>called
out=${*: -1}
[[ ${out##*/} == "$(cat fails)" ]] && exit 1
[[ ${out##*/} != "$(cat stops 2>/dev/null)" ]] || { echo part >"$out" && rm stops && kill -INT "$(cat pid)" && sleep 0.3; }
echo 'case' >"$out" && echo 'cpu: Some (R) CPU' >"${out%.csv}.machine.txt"
SH
cat >.venv/bin/python <<'SH'
#!/usr/bin/env bash
all=$*
[[ $all != *report.py* ]] || echo "${all#*--status }" >>pages
[[ $1 != plots/deck.py || ! -e broken ]]
SH
cat >.venv-peers/bin/python <<'SH'
#!/usr/bin/env bash
echo "python $*" >>called
[[ $2 == pip ]] || printf 'how,version,case\none,1,some/case\n' >"${*: -1}"
SH
printf '#!/bin/sh\n' >bin/cmake
printf '#!/bin/sh\n%s "$@" | if [ "$LC_ALL" = C ]; then cat; else tr . ,; fi\n' "$(type -P awk)" >bin/awk # mawk in a German locale
cp build/{release,peers}/normlab
chmod +x build/*/normlab .venv*/bin/python bin/*
PATH=$PWD/bin:$PATH

# A job in the background ignores SIGINT. This one restores the default, which ./reproduce inherits.
interruptible='import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
print(os.getpid(), file=open("pid", "w"))
os.execv("./reproduce", ["./reproduce", *sys.argv[1:]])'
reproduce() { # NAME CODE
    sleep 1 # the name of a run's folder has the time to the second
    rm -f called pages
    ran "$1" "$2" python3 -c "$interruptible" "${@:3}"
    folder=$(sed -n 's/^Kept in //p' stdout)
}
has() { check "  keeps $1" "$([ -s "$folder/$1" ] || echo "only $(ls "$folder")")"; }
lacks() { check "  has no $1" "$([ ! -e "$1" ] || echo "from an earlier run")"; }

echo none >fails
reproduce "a run" 0
check "  names the machine" "$([[ $folder == results/runs/Some-R-CPU/* ]] || echo "$folder")"
for name in one two four five six; do for ending in csv machine.txt; do has $name.$ending; done; done
echo mine >results/mine.csv

check "  the headline first" "$(head -n 1 called | grep -v '^ claims seven_to_fifteen seven_to_sixtyfour ')"
check "  then a pass" "$(sed -n 2p called | grep -v '^ claims --passes 1')"
check "  then tunes" "$(sed -n 3p called | grep -v '^ tune --seconds 0.05 --out results/tuning.txt$')"
check "  and uses that" "$(sed 1,3d called | grep -v '^tuning.txt ')"
has tuning.txt
check "  what is untimed comes last" "$(tail -n 3 called | grep -v ' study ')"
check "  the page is there at once" "$(head -n 1 pages | grep -v '^still to come: build, claims, .*, about [3-9] min in all')"
check "  and is drawn after each experiment" "$([ "$(grep -c 'min in all$' pages)" -ge 8 ] || shows cat pages)"
check "  and says at the end that all is there" "$(tail -n 1 pages | grep 'to come')"
check "  has no peer" "$(grep -E 'peers|python' called)"
check "  measures the whole experiment" "$(grep -q 'bench experiments/two.txt' called || shows cat called)"
check "  in a sixth of the time, in any locale" "$(grep -qF 'bench experiments/one.txt --seconds 0.05 ' called || shows cat called)"
reproduce "a quick run" 0 --quick
check "  measures the cases for that" "$(grep -q 'bench a/few cases --quick' called || shows cat called)"
check "  and otherwise the whole" "$(grep -q 'bench experiments/one.txt --quick' called || shows cat called)"

for stop in two limit five; do
    echo $stop.csv >stops
    reproduce "a run that is interrupted in $stop" 130
    lacks results/$stop.csv
    check "  keeps what is whole" "$([ -s results/one.csv ] || shows ls results)"
    check "  the page has what is left" "$(tail -n 1 pages | grep -v "still to come: .*$stop, ")"
    cp results/unfinished . && reproduce "the next one goes on" 0
    has one.csv && has $stop.csv
    check "  measures the rest" "$(grep -q "/$stop.csv" called || shows cat called)"
    check "  and no more" "$(grep -E ' claims |/one.csv' called)"
    lacks results/unfinished
done
cp unfinished results && reproduce "with other options" 0 --full
check "  all is measured" "$(grep -q '/one.csv' called || shows cat called)"

touch broken
reproduce "slides that fail" 1
prints '1 failed:'
rm broken

reproduce "slides" 0 --slides
check "  measures nothing" "$(cat called 2>/dev/null)"

reproduce "the peers" 0 --peers
check "  installs them first" "$([[ $(head -n 1 called) == setup_peers ]] || shows head -n 1 called)"
check "  and the package as it is now" "$(ls $packages/normlab | grep -vx new.py; [ -e $packages/normlab/new.py ] || echo none)"
check "  and no other experiment" "$(grep 'experiments/[^p]' called)"
check "  beside ours" "$(grep -Fq 'bench experiments/peers.txt --impl best,peer/*' called || shows cat called)"
check "  judges oneDNN on the frameworks' cases" \
    "$(grep -Fq 'check --impl peer/onednn* some/case --out' called || shows cat called)"
check "  and claims has the frameworks" "$(grep -q 'claims --passes 1 --measured results/frameworks.csv' called || shows cat called)"
for name in peers frameworks{,_step,_compiled,_judge,_rounding,_invariance,_onednn}; do has $name.csv; done

echo tuning.txt >fails
reproduce "a run in which tune fails" 1
check "  has the defaults" "$(grep -v '^ ' called)"
lacks results/tuning.txt
lacks "$folder/tuning.txt"

echo one.csv >fails
reproduce "a run in which an experiment fails" 1
for ending in csv machine.txt; do
    lacks "$folder/one.$ending"
    lacks "results/one.$ending"
    has two.$ending
done
lacks "$folder/mine.csv"
check "  the page says so" "$(tail -n 1 pages | grep -v -- '--failed one$')"
check "  leaves other files alone" "$([ -s results/mine.csv ] || echo "results/mine.csv is gone")"

echo five.csv >fails
reproduce "a run in which a study fails" 1
prints 'five: see build/reproduce-five.log'
check "  the page says so" "$(tail -n 1 pages | grep -v -- '--failed five$')"

echo limit.csv >fails
reproduce "a run without a limit" 1
has one.csv

echo none >fails
mv results/runs kept && touch results/runs
reproduce "results/runs cannot be written" 1
says 'results/runs'
lacks called
rm results/runs && mkdir results/runs && touch results/runs/Some-R-CPU
reproduce "the machine's folder cannot be written" 1
prints 'could not keep this run in results/runs/Some-R-CPU/'
for bad in 2 0h 2d '' '1 h'; do
    reproduce "--until '$bad'" 2 --until "$bad"
    check "  says what it should be" "$(grep -q "^--until '$bad' should be a time such as 90m" stderr || shows cat stderr)"
done
# A fake pause: the first pause returns at once, the second is interrupted.
cat >bin/sleep <<'SH'
#!/bin/sh
[ "$1" -gt 60 ] || exec /bin/sleep "$1"
echo pause "$1" >>called
[ "$(grep -c pause called)" -lt 2 ] || kill -INT $PPID
SH
chmod +x bin/sleep
reproduce "passes until it is interrupted" 130 --until 9h
check "  a pass at the beginning and one between pauses" "$([ "$(grep -c 'claims --passes 1' called)" -eq 2 ] || shows cat called)"
check "  of another sitting" "$(grep pause called | awk '$2 < 900 || $2 > 1500')"
rm bin/sleep

summary
