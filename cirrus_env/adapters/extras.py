"""What is said where an extra's package isn't installed."""

from __future__ import annotations

from cirrus_env.errors import OptionError


class MissingExtra(OptionError, ImportError):
    """A package that only an extra brings; both an option that can't be used and a failed import.

    Args:
        extra: The extra's name.
        error: What the import raised.
    """

    def __init__(self, extra: str, error: ImportError) -> None:
        self.extra = extra
        super().__init__(f'{error.name or error} is missing: pip install "cirrus-env[{extra}]"')
