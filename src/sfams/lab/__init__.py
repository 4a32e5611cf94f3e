"""Measuring: replays, baselines, reports."""
