"""The articles: files ``articles/<language>/<topic>/<slug>.md`` whose first line is the title."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cirrus_env.errors import InvariantError

LANGUAGES = ("en", "zh")
_FOLDER = Path(__file__).parent / "articles"


@dataclass(frozen=True, slots=True)
class Article:
    """One article.

    Attributes:
        id: Topic and slug, such as ``ecs/stop-modes``.
        language: Of this version.
        title: Its title.
        text: Its body, without the title.
    """

    id: str
    language: str
    title: str
    text: str

    @property
    def summary(self) -> str:
        """The first paragraph, on one line."""
        return " ".join(self.text.partition("\n\n")[0].split())


@lru_cache(maxsize=8)
def known(language: str = "en") -> tuple[str, ...]:
    """The ids of all articles in a language, sorted."""
    folder = _FOLDER / language
    return tuple(
        sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.md"))
    )


@lru_cache(maxsize=512)
def article(id: str, language: str = "en") -> Article | None:
    """The article in this language, else in English, else None."""
    for version in dict.fromkeys((language, "en")):
        if id in known(version):
            return _read(id, version)
    return None


def _read(id: str, language: str) -> Article:
    path = _FOLDER / language / f"{id}.md"
    head, _, body = path.read_text(encoding="utf-8").partition("\n")
    if not head.startswith("# "):
        raise InvariantError(f"{path}: the first line must be '# ' and a title")
    return Article(id, language, head[2:].strip(), body.strip())
