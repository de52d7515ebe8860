"""The language of a page: the interface texts in English and Japanese. What the model says stays as it was written.

The texts of a language are one JSON file in ``languages/``, named by its BCP 47 tag: text by key, where ``{name}``
stands for a value. A text that depends on a number has one key for each form, ``KEY.one`` and ``KEY.other``; a language
without plural forms has ``KEY.other`` alone. Every language has the same keys, but for those forms.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import MappingProxyType

from arrowproof.model.record import record

FOLDER = Path(__file__).parent / "languages"

LANGUAGES = ("en", "ja")
"""The languages that there are, the first one when none is asked for."""

SCRIPT_PREFIX = "js."
"""The keys of the texts that the script of a page says; it gets them without this prefix."""


@record
class Language:
    """The interface texts of one language. Calling it gives a text with its values filled in."""

    tag: str
    texts: MappingProxyType[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key.

        Raises:
            KeyError: there is no such text, or it needs a value that was not given; a mistake of this package.
        """
        return self.texts[key].format_map(values)

    def count(self, key: str, number: int, **values: object) -> str:
        """The text of a key in the form that this number takes; ``{number}`` stands for it, its thousands apart."""
        one = f"{key}.one"
        form = one if number == 1 and one in self.texts else f"{key}.other"
        return self(form, number=f"{number:,}", **values)

    @property
    def script_texts(self) -> dict[str, str]:
        """The texts that the script of a page says, by their keys."""
        return {
            key.removeprefix(SCRIPT_PREFIX): text
            for key, text in sorted(self.texts.items())
            if key.startswith(SCRIPT_PREFIX)
        }


@cache
def load_language(tag: str = LANGUAGES[0]) -> Language:
    """The language of a tag in :data:`LANGUAGES`."""
    if tag not in LANGUAGES:
        raise ValueError(f"{tag!r} is none of {', '.join(LANGUAGES)}")
    texts = json.loads((FOLDER / f"{tag}.json").read_text(encoding="utf-8"))
    return Language(tag, MappingProxyType(texts))
