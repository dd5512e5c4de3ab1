#!/usr/bin/env bash
# Tests scripts/regret.py with a fake program: the shapes drawn, the rungs that compete on each, and the numbers. Then
# runs the real program on one shape. Usage: tests/project/regret.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
cp -r "$root"/scripts "$root"/plots .
is() { # NAME WANTED CODE: what Python prints with regret imported
    local got
    got=$(python3 -c "import random, sys; sys.path.insert(0, 'scripts'); from regret import *; $3" 2>&1)
    check "$1" "$([ "$got" = "$2" ] || echo "$got, not $2")"
}

many="made = [drawn(random.Random(seed)) for seed in range(2000)]; parts = [case.split('/') for case in made]"
is "every ungated layer, pass, type and kind of stores is drawn" "4 3 3 [False, True] [False, True] [False, True] [False, True] [False, True] [False, True] [False, True] [False, True]" "$many
print(*(len({part[at] for part in parts}) for at in range(3)), *([*sorted({word in case for case in made})] for word in ('residual', 'gap=', '=cached', '=streaming', 'cast-', 'no-affine', 'no-beta', 'in-place')))"
is "sizes" "True True True" "$many
sizes = [(part[0], [int(number) for number in part[3].split('x')]) for part in parts]
print(all(2 ** 9 < math.prod(size) < 2 ** 25 or op == 'batchnorm' and size[0] == 2 for op, size in sizes), all(16 <= size[1] <= 16384 for _, size in sizes),
    all(op == 'batchnorm' or len(size) == 2 for op, size in sizes))"
is "a residual, views, a cast and missing parameters only for rows" "0" "$many
print(sum(part[0] == 'batchnorm' and any(word in '/'.join(part) for word in ('residual', 'gap=', 'cast-', 'no-')) for part in parts))"

row="row = lambda case, impl, speedup, comparison='FASTER', verdict='ok', ns='1': dict(case=case, impl=impl, speedup=speedup, comparison=comparison, verdict=verdict, ns=ns)
best = lambda case: row(case, 'best', '1', 'baseline')"
is "the fastest of the right ones" "{'a': (1.5, 'best', 'fast'), 'b': (1.0, 'best', 'best')}" "$row
print(regrets([best('a'), row('a', 'fast', '1.5'), row('a', 'wrong', '9', verdict='FAIL'), row('a', 'untimed', '9', ns=''), best('b'), row('b', 'slow', '0.5')]))"
is "the middle of the passes counts, and one wrong pass is wrong" "('1.1', 'ok') ('2', 'FAIL')" "$row
one, two = list(pooled([[row('a', 'x', '1.5'), row('a', 'y', '2')], [row('a', 'x', '1.1'), row('a', 'y', '2', verdict='FAIL')], [row('a', 'x', '1.0'), row('a', 'y', '2')]]))
print((one['speedup'], one['verdict']), (two['speedup'], two['verdict']))"
is "without the choice there is no regret" "{}" "$row
print(regrets([row('a', 'fast', '1.5'), row('b', 'best', '1', 'baseline', verdict='FAIL'), row('b', 'fast', '2')]))"
is "asked for cached stores" "{'a/stores=cached': (2.0, 'best', 'x/rows_pipelined')}" "$row; c = 'a/stores=cached'
print(regrets([best(c), row(c, 'x/rows_streaming', '3'), row(c, 'x/rows_pipelined', '2')]))"
is "with the choice's stores" "{'a': (1.5, 'best', 'x/rows_pipelined')} {'a': (2.0, 'best', 'x/rows_pipelined')}" "$row
print(regrets([best('a'), row('a', 'x/rows_streaming', '3'), row('a', 'x/rows_pipelined', '1.5')], True), regrets([best('a'), row('a', 'x/rows_pipelined', '2')]))"
is "a choice that streams" "(3.0, 'x_streaming', 'x/rows_streaming')" "$row
print(regrets([row('a', 'x_streaming', '1', 'baseline'), row('a', 'x/rows_streaming', '3'), row('a', 'x/rows_pipelined', '4')], True)['a'])"
is "asked for streaming stores" "{'a/stores=streaming': (3.0, 'best', 'x/rows_streaming')}" "$row; c = 'a/stores=streaming'
print(regrets([best(c), row(c, 'x/rows_streaming', '3'), row(c, 'x/rows_pipelined', '4')]))"
is "a choice that no competitor reaches" "1.0" "$row; c = 'a/stores=streaming'
print(regrets([best(c), row(c, 'x/rows_streaming', '0.5')])[c][0])"
is "a peer is no rung" "{'a': (1.0, 'best', 'best')} {'a': (1.5, 'peer/b')}" "$row
rows = [best('a'), row('a', 'peer/a', '1.2'), row('a', 'peer/b', '1.5'), row('a', 'peer/c', '9', verdict='FAIL'), best('b'), row('b/stores=cached', 'peer/a', '2')]
print(regrets(rows[:4]), behind(rows))"

# A fake program. On case k = 0, 1, 2 ... its fastest rung is 1 + k / 10 times as fast as the choice. Stores have no
# effect.
cat >program <<'END'
#!/usr/bin/env bash
k=0
while [ "$1" != --impl ]; do [ "$1" = bench ] || cases[k++]=$1; shift; done
echo "$*" >options
while [ "$1" != --out ]; do shift; done
{
    echo case,impl,verdict,ns,comparison,speedup
    for ((k = 0; k < ${#cases[@]}; k++)); do
        echo "${cases[k]},optimized/rows_choice,ok,2,baseline,1"
        echo "${cases[k]},optimized/rows_registers,ok,1,FASTER,$((10 + k))e-1"
    done
} >"$2"
exit "${code:-0}"
END
chmod +x program
ran "regret.py" 0 python3 scripts/regret.py --program ./program --seed 7 --shapes 200 --threads 3 --seconds 0.5
check "  the mean, the 99th percentile and the worst" "$(tail -3 stdout | paste -sd ' ' |
    grep -q '^200 shapes of seed 7, 3 thread(s), 1 pass(es) regret: 10.950 in the mean, at most 20.70 in 99 %, 20.90 at worst among' || shows cat stdout stderr)"
check "  the twenty worst, the worst first" "$([ "$(cut -c 1-6 stdout | head -3 | tr -d '\n ')" = 20.9020.8020.70 ] && [ "$(wc -l <stdout)" -eq 23 ] || shows cat stdout)"
check "  what it asks for" "$(grep -qx -- '--impl optimized/\*,best --baseline best --threads 3 --seconds 0.5 --out .*/results/regret-drawn.csv' options || shows cat options)"
cp stdout first
python3 scripts/regret.py --program ./program --seed 7 --shapes 200 --threads 3 >stdout
check "  a seed draws the same again" "$(diff first stdout)"
code=3 ran "a program that fails" 1 python3 scripts/regret.py --program ./program --seed 7 --shapes 5
says "normlab bench: exit code 3"

small=$(python3 -c "import random, sys; sys.path.insert(0, 'scripts'); from regret import *
print(next(seed for seed in range(10000) if (shape := drawn(random.Random(seed)).split('/')[3]) and math.prod(map(int, shape.split('x'))) < 4096))")
ran "a shape of the real program" 0 python3 scripts/regret.py --program "$normlab" --seed "$small" --shapes 1 --seconds 0.001
check "  has a regret" "$(grep -Eq "^1 shapes of seed $small, 1 thread\(s\), 1 pass\(es\)" stdout && grep -Eq "^regret: [0-9]+\.[0-9]{3} in the mean" stdout || shows cat stdout stderr)"
summary
