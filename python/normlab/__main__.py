"""`python -m normlab` and the command `normlab` run the program in the package."""
import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).with_name("normlab")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
