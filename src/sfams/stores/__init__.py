"""Where records live: dicts (the oracle) and SQLite."""
