#!/usr/bin/env bash
# Tests that the modules of harness/ are as harness/README.md describes them. SPDX-License-Identifier: MIT
exec python3 "$(dirname "$0")/../../scripts/modules.py"
