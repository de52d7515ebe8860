"""Makes what the tool makes of the bundled service, under artifacts/; with --check says which of it is stale.

The two reports are deterministic and compared byte by byte, and so is the page, with the evidence that is there
already. Evidence and screenshots hold times, process ids and pixels of one machine; they are made anew with the others
and never compared.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

from arrowproof.cli.proof_file import read_proof
from arrowproof.conformance.driver import load_driver
from arrowproof.conformance.proof import EVIDENCE_FILE, prove
from arrowproof.conformance.report_forms import REPORT_FILE
from arrowproof.conformance.report_html import report_html
from arrowproof.model.evidence import Verdict
from arrowproof.model.evidence_document import load_evidence
from arrowproof.model.loader import load_lifecycle
from arrowproof.render.fit import check_pages
from arrowproof.render.language import LANGUAGES
from arrowproof.render.page import render_page

ROOT = Path(__file__).resolve().parent.parent
ARTIFACTS = ROOT / "artifacts"
MODEL = ROOT / "arrowproof" / "service" / "notes-job.lifecycle.json"

PAGE = "notes-job.html"
REPORT_PAGE = "notes-job.report.html"
REPORT_JSON = "notes-job.report.json"
EVIDENCE = "notes-job.evidence.json"
COMPARED = (PAGE, REPORT_PAGE, REPORT_JSON)


def main() -> int:
    """Make the artifacts, or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, change nothing, exit 1 when something is stale")
    parser.add_argument("--proof", type=Path, metavar="DIR", help="what `prove notes` of now wrote; else one is made")
    options = parser.parse_args()
    checking: bool = options.check
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        if options.proof is None:
            with tempfile.TemporaryDirectory() as out:
                take_proof(make_proof(Path(out)), made)
        else:
            take_proof(options.proof, made)
        make_page(made, ARTIFACTS if checking else made)
        if checking:
            return report_stale(made)
        shutil.copytree(made, ARTIFACTS, dirs_exist_ok=True)
    with contextlib.chdir(ARTIFACTS):  # the receipt names the page as it was named here
        check_pages([Path(PAGE)], Path("fit"))
    print(f"made {', '.join(sorted(str(path.relative_to(ROOT)) for path in ARTIFACTS.rglob('*') if path.is_file()))}")
    return 0


def make_page(folder: Path, source: Path) -> None:
    """Write the page into ``folder``, with the evidence that stands in ``source``."""
    lifecycle = load_lifecycle(MODEL)
    proof = read_proof(source / EVIDENCE, lifecycle, LANGUAGES[0])
    (folder / PAGE).write_text(render_page(lifecycle, proof=proof), encoding="utf-8")


def make_proof(out: Path) -> Path:
    """Prove the bundled service; give the folder with what that wrote."""
    lifecycle = load_lifecycle(MODEL)
    assert lifecycle.driver is not None
    prove(lifecycle, load_driver(lifecycle.driver), out)
    return out


def take_proof(proof: Path, folder: Path) -> None:
    """Write the evidence and both reports of a proof into ``folder``. Only one that holds makes artifacts."""
    lifecycle = load_lifecycle(MODEL)
    evidence = load_evidence((proof / EVIDENCE_FILE).read_bytes(), str(proof / EVIDENCE_FILE))
    if evidence.verdict is not Verdict.PROVEN:
        raise SystemExit("the bundled service is not proven: " + "\n".join(evidence.reasons))
    if evidence.model_sha256 != lifecycle.origin.sha256:
        raise SystemExit(f"{proof} is a proof of another model. Prove {MODEL.name} anew")
    shutil.copy(proof / EVIDENCE_FILE, folder / EVIDENCE)
    shutil.copy(proof / REPORT_FILE, folder / REPORT_JSON)
    (folder / REPORT_PAGE).write_text(report_html(evidence, lifecycle, stated_times=False), encoding="utf-8")


def report_stale(made: Path) -> int:
    """Print which committed artifacts differ from those just made; return 1 when any does."""
    stale = [
        name
        for name in COMPARED
        if not (ARTIFACTS / name).is_file() or (ARTIFACTS / name).read_bytes() != (made / name).read_bytes()
    ]
    for name in stale:
        print(f"artifacts/{name} is stale. Make it anew: .venv/bin/python scripts/make-artifacts.py")
    if not stale:
        print("the artifacts are what the tool makes today")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
