#!/usr/bin/env bash
# Tests the candidates of `normlab completion`, and what Tab completes on a terminal in each installed shell.
# Usage: tests/commands/completion.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset NL_ISA
offers() { # offers NAME EXPECTED WORDS...
    check "$1" "$(got=$("$normlab" completion -- "${@:3}" | paste -sd' ')
        [ "$got" = "$2" ] || echo "offers '$got', not '$2'")"
}
offers "commands" "lab" la
offers "help for each" "list limit" help li
offers "options" "--threads" check --th
offers "a layer" "batchnorm" new b
offers "no second one" "" new rmsnorm r
offers "a lab" "2-one-pass" grade 2
offers "a case" "rmsnorm/forward/f32/ rmsnorm/forward/f16/ rmsnorm/forward/bf16/" bench --quick rmsnorm/f
offers "after a file, too" "batchnorm/inference/bf16/" try mine.c batchnorm/inference/b
offers "a value" "rmsnorm/naive" check --impl rmsnorm/na
offers "a value, as bash cuts it" "rmsnorm/naive" check --impl = rmsnorm/na
offers "a value in the same word" "--impl=rmsnorm/naive" check --impl=rmsnorm/na
offers "no word for a value" "" check --threads ""
offers "a shell" "bash" completion b
offers "nothing of what is no command" "" frobnicate ""
for command in $("$normlab" help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'); do
    check "all options of $command" "$("$normlab" "$command" --help | grep -oE '^ +--[a-z-]+' | tr -d ' ' |
        grep -vxF -e "$("$normlab" completion -- "$command" --)")"
done
refuses "no shell" "which SHELL: bash, zsh or fish?" completion csh

# Types into the shell and presses Tab, then prints the line.
cat > type.py << 'END'
import os, pty, re, select, sys, time
shell, folder, start, *lines = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(PATH=folder + ":" + os.environ["PATH"], TERM="dumb", PS1="> ", HOME=os.getcwd())
    os.execvp(shell.split()[0], shell.split())
def read(until, seconds=20):
    text, end = "", time.time() + seconds
    while not re.search(until, text) and time.time() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            text += os.read(terminal, 4096).decode(errors="replace")
    return text
os.write(terminal, (start + "; echo rea''dy\n").encode())
read(r"\nready|\rready")
time.sleep(0.5)
for line in lines:
    typed, wanted = line.split("=>")
    os.write(terminal, (typed + "\t").encode())
    text = read(re.escape(wanted))
    if wanted not in text:
        print(f"{typed!r} becomes {text!r}, not {wanted!r}")
    os.write(terminal, b"\x15")
    time.sleep(0.2)
os.close(terminal)
END
declare -A starts=([bash]='eval "$(normlab completion bash)"' [fish]='normlab completion fish | source'
    [zsh]='autoload -U compinit; compinit -u; eval "$(normlab completion zsh)"')
declare -A shells=([bash]='bash --norc --noprofile -i' [zsh]='zsh -f -i' [fish]='fish --no-config -i')
touch mine_own.c
for shell in bash zsh fish; do
    type $shell > /dev/null 2>&1 || { echo "skip  $shell: not installed"; continue; }
    check "$shell completes" "$(python3 type.py "${shells[$shell]}" "$(dirname "$normlab")" "${starts[$shell]}" \
        'normlab chec=>check ' 'normlab check --im=>--impl ' 'normlab lab 5=>5-backward ' \
        'normlab check --impl rmsnorm/na=>rmsnorm/naive ' 'normlab try mine=>mine_own.c ' \
        'normlab bench layernorm/back=>ward/')"
done

summary
