"""The verbs of `Memory`, by what they are for; each calls one use-case module."""
