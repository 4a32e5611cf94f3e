"""The rules of remembering and forgetting as pure functions of values and `now`."""
