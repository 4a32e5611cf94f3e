"""What `docs/generate.py` fills in: a module for each sort of section."""
