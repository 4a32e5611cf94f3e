"""`python -m sfams` is the command `sfams`."""

from sfams.cli.app import main

if __name__ == "__main__":
    main()
