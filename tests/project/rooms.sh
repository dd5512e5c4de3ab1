#!/usr/bin/env bash
# The rooms of harness/ follow its README. SPDX-License-Identifier: MIT
exec python3 "$(dirname "$0")/../../scripts/rooms.py"
