#!/usr/bin/env bash
# The modules of harness/ follow its README. SPDX-License-Identifier: MIT
exec python3 "$(dirname "$0")/../../scripts/modules.py"
