"""The policy: which style and script of a document may act, by their SHA-256, in a Content-Security-Policy."""

from __future__ import annotations

import base64
import hashlib


def source_hash(text: str) -> str:
    """The source expression that lets a style or a script of exactly this text act."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
