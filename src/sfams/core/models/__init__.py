"""Retention models: one formula a module, all behind `sfams.core.retention`."""
