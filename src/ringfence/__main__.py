"""Runs the command line: `python -m ringfence`. May touch interfaces."""

from ringfence.interfaces.cli.app import main

if __name__ == "__main__":
    main()
