#!/usr/bin/env bash
# Tests scripts/ports.py: the loops in executed code, the busiest ports, OSACA's cycles of a fixed loop, and the tables.
# Usage: tests/project/ports.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
python=$root/.venv/bin/python
[ -x "$python" ] || python=python3
is() { # NAME WANTED CODE: what Python prints with ports imported
    local got
    got=$("$python" -c "import sys; sys.path.insert(0, '$root/scripts'); from ports import *; $3" 2>&1)
    check "$1" "$([ "$got" = "$2" ] || echo "$got, not $2")"
}

printf ' 10:\tvmovups 0x40(%%rdi),%%zmm1        # 50 <x+0x4>\n 14:\tjne    10 <f+0x10>\n\n0000 <g>:\n' >text
is "instructions without comments and names" "{16: 'vmovups 0x40(%rdi),%zmm1', 20: 'jne    10'}" "print(disassembled(open('text').read()))"
# Addresses 2 to 5 are a loop; its last step ends after 3. In the second test 2 and 3 are a loop, too. 6 jumps ahead.
code="{1: 'mov', 2: 'add', 3: 'jb', 4: 'sub', 5: 'jmp', 6: 'je', 9: 'ret'}"
is "loops and steps" "[(['add', 'jb', 'sub', 'jmp'], 4.0)] 0.9" \
    "found, inside = loops([1] + 3 * [2, 3, 4, 5] + [2, 3, 6, 9], $code); print(found, round(inside, 1))"
is "a loop within a loop" "[(['add', 'jb'], 20.0)]" "print([each for each in loops(2 * ([1] + 10 * [2, 3] + [4, 5]), $code)[0]])"
is "a small loop, and one that is too small" "[100.0, 3.0] [400.0]" "
print(*([steps for _, steps in loops(many * [2, 3] + 3 * [4, 5] + [9], $code)[0]] for many in (100, 400)))"
is "the busiest ports" "1.5 2.0 3.0 0 2.0" "print(busiest([(1, '05')] * 2 + [(1, '0')]), busiest([(1, '05'), (2, '5')] + [(1, '15')]),
    busiest([(1, '05'), (1, '1'), (1, '1'), (1, '1')]), busiest([]), busiest(2 * [(1, '01'), (1, '12'), (1, '02')]))"

if [ "$(uname -sm)" = "Linux x86_64" ] && type objdump nm >/dev/null && "$normlab" doctor --csv | grep -q '^build,good' &&
    "$normlab" list --csv | grep -q '^optimized/rows_certified,avx2,.*,1,0,0,'; then
    # The output loops store all of y except the vectors that align y.
    is "a call, step by step" "True True" "
function, code = program_of('$normlab')
found, inside = loops(Stepper(['$normlab', 'count', '--inside', '--impl', 'optimized/rows_certified@avx2', 'rmsnorm/forward/f32/16x1024/normal']).call(function), code)
count = lambda words: sum(steps * len(re.findall(words, '\n'.join(step))) * 8 for step, steps in found) / (N * C)
print(0.9 < count(r'vmov[au]ps +%ymm\d+,') <= 1, 0.5 < inside < 1)"
else
    echo "not run: a call step by step, which needs Linux on x86-64, binutils, AVX2 and an optimized build"
fi

if "$python" -c 'import osaca' 2>/dev/null; then
    loop="['vmovups (%rdi,%rax,4),%ymm1', 'vmovups (%r8,%rax,4),%ymm2', 'vfmadd231ps %ymm1,%ymm2,%ymm0', 'vmovups %ymm1,(%rsi,%rax,4)', 'vmovups %ymm1,0x20(%rsi,%rax,4)', 'add \$0x8,%rax', 'cmp %rax,%rdx', 'jae 10']"
    is "OSACA's cycles of a loop" "[0.6, 1.0, 1.17, 4.0] [0.75, 1.0, 1.4, 4.0]" "
print(*([round(each, 2) for each in Core(name).cycles($loop).values()] for name in ('SPR', 'ICX')))"
    is "a chain of addresses" "0" "print(Core('ZEN3').cycles(['lea 0x8(%rax),%rax', 'cmp %rax,%rdx', 'jae 10'])['latency'])"
    is "an instruction that OSACA lacks" "OSACA's model of SPR lacks: vnosuch %ymm1,%ymm0" "Core('SPR').cycles(['vnosuch %ymm1,%ymm0', 'jb 10'])"
else
    echo "not run: OSACA's cycles, which need pip install -r requirements-ports.txt"
fi

mkdir pages && cp -r "$root"/{docs,plots,scripts} pages
ran "ports.py --check" 0 python3 pages/scripts/ports.py --check
spoiled() { # WORDS FILE SED: after SED has changed a page, --check fails with WORDS
    sed -i "$3" pages/docs/"$2"
    ran "$1" 1 python3 pages/scripts/ports.py --check
    says "$1"
    cp "$root"/docs/"$2" pages/docs/"$2"
}
spoiled "12-the-machine.md is not what docs/ports.csv says" course/12-the-machine.md '/^| xeon/s/ lead / done /'
spoiled "optimized.md is not what docs/ports.csv says" optimized.md 's/ ports | / latency | /'
spoiled "takes less time than its limit" machines/xeon/ports.csv '2s/,[0-9.]*,\([0-9.]*,[0-9.]*\)$/,1000,\1/'

# One chain of eight lanes at 16 Gflop/s means 4 GHz. At 4.06 cycles for 16 elements, 65536 elements take at least
# 4157 ns.
printf '%s\n' panel,series,x,y 'one thread,avx2,1,16' 'one thread,avx2,2,32' 'one thread,avx512,1,32' >peak.csv
printf '%s\n' case,impl,isa,ns,limit_pct,verdict layernorm/forward/f32/64x1024/normal,optimized/rows_pipelined,avx2,8000,85,ok \
    layernorm/forward/f32/64x1024/normal,optimized/rows_simd,avx2,,,wrong >ports.csv
printf '%s\n' 'cpu: x' 'compiler: y' 'commit: z' 'date: 2026-01-01T00:00:00Z' >ports.machine.txt
ran "ports.py --add" 0 python3 pages/scripts/ports.py --add zen3 ports.csv
check "  the clock" "$(tail -1 pages/docs/machines/zen3/ports.csv | grep -q ',avx2,8000,85,4.00$' || shows cat pages/docs/machines/zen3/ports.csv)"
check "  done by copying" "$(grep -q '^| zen3 | LayerNorm forward | AVX2 | pipelined | 4.1 loads and stores | 5[0-9] | 85 | done |$' \
    pages/docs/course/12-the-machine.md || grep '^| zen3' pages/docs/course/12-the-machine.md)"
summary
