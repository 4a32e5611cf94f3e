"""The use cases: the only code that calls ports. One module a verb family, one thin `Memory`."""
