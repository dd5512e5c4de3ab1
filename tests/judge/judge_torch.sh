#!/usr/bin/env bash
# `normlab judge` on PyTorch's own outputs, with the first Python that has torch. Exit code 77, SKIPPED,
# without one. Usage: tests/judge/judge_torch.sh path/to/normlab.
# SPDX-License-Identifier: MIT
set -u
tests=$(cd "$(dirname "$0")" && pwd) || exit 2
for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch' 2>/dev/null && exec "$python" "$tests/judge/judge_torch.py" "$@"
done
echo "SKIPPED: no Python here has torch. To judge PyTorch: apt-get install python3-torch, or"
echo "pip install torch in an environment of its own and then python tests/judge/judge_torch.py PROGRAM"
exit 77
