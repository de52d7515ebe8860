"""What a command pays for: nothing that it does not use is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LOADED = """
import sys
from arrowproof.cli.main import status_of
assert status_of(sys.argv[1:]) == 0
print("\\n".join(sys.modules))
"""


def loaded_by(folder: Path, *arguments: str) -> set[str]:
    command = [sys.executable, "-c", LOADED, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.splitlines())


def test_a_page_without_evidence_loads_neither_what_a_proof_needs_nor_what_other_commands_do(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "render", "notes", "-o", "page.html")
    assert {"jinja2", "arrowproof.render.page"} <= loaded
    heavy = {"jsonschema", "playwright", "sqlglot", "starlette", "uvicorn", "httpx", "apsw", "rich", "PIL", "asyncio"}
    assert loaded & heavy == set()
    ours = {name for name in loaded if name.startswith("arrowproof.")}
    assert {name for name in ours if name.startswith("arrowproof.conformance")} == set()
    assert (
        ours
        & {
            "arrowproof.model.evidence",
            "arrowproof.model.staleness",
            "arrowproof.render.proof_column",
            "arrowproof.render.proof_header",
            "arrowproof.render.proof_heights",
            "arrowproof.render.proof_panel",
            "arrowproof.render.chromium",
            "arrowproof.render.scenes",
        }
        == set()
    )


def test_the_version_loads_no_command(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "--version")
    assert {name for name in loaded if name.startswith("arrowproof.render.") and not name.endswith("language")} == set()
