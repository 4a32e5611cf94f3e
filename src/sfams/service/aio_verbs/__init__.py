"""The verbs of `AsyncMemory`: those of `Memory`, awaited."""
