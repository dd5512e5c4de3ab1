#!/usr/bin/env bash
# The rooms of harness/ are as its README says. SPDX-License-Identifier: MIT
exec python3 "$(dirname "$0")/../scripts/rooms.py"
