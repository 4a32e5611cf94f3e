"""The command line: every verb of `Memory` as a command of `sfams`."""
