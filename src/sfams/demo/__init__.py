"""The bilingual project history that `sfams demo` replays."""
