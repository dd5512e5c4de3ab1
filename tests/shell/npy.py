"""Reads and writes NumPy's files, and rounds to NumPy's types, without NumPy. SPDX-License-Identifier: MIT"""
import ast
import math
from struct import calcsize, error, pack, unpack

# V2 is bfloat16 in files that ml_dtypes saves.
LETTERS = {"f2": "e", "f4": "f", "f8": "d", "V2": "H"}


def to(letter, v):
    """v rounded to f64, f32, f16 or bf16 (d, f, e or b); too large values become infinite."""
    if not math.isfinite(v):
        return v
    try:
        if letter == "b":
            bits = unpack("<I", pack("<f", v))[0]
            return unpack("<f", pack("<I", bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000))[0]
        return unpack("<" + letter, pack("<" + letter, v))[0]
    except (OverflowError, error):
        return math.copysign(math.inf, v)


def save(path, descr, shape, values):
    letter = LETTERS[descr[1:]]
    if letter == "H":  # bfloat16 is the first half of a float
        values = [unpack("<I", pack("<f", v))[0] >> 16 for v in values]
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    head += " " * (-(11 + len(head)) % 64) + "\n"
    assert len(values) == math.prod(shape)
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + pack("<H", len(head)) + head.encode())
        f.write(pack("<%d%s" % (len(values), letter), *values))


def load(path):
    """Type, shape and values."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\1\0", path + " is not a .npy file"
    end = 10 + unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:end].decode())
    assert not head["fortran_order"]
    letter = LETTERS[head["descr"][1:]]
    values = unpack("<%d%s" % ((len(data) - end) // calcsize(letter), letter), data[end:])
    if letter == "H":
        values = [unpack("<f", pack("<I", v << 16))[0] for v in values]
    return head["descr"], head["shape"], values
