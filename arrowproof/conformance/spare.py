"""The spare: a Python that has loaded a command's code ahead and waits to be told to run it.

Usage: ``python -m arrowproof.conformance.spare MODULE FOLDER [OTHER_MODULE ...]``

To load its code is most of what a short command does, and can be done on another core while nobody needs it yet. The
spare loads MODULE and the others, and reads one line from stdin: a JSON object with ``arguments`` and ``environment``,
which is added to its own. From then on it is what ``python -m MODULE ARGUMENTS`` would be: MODULE runs as the main
module, and nothing of it ran before. When stdin ends without a line, whoever started it has gone, and it ends too.
FOLDER is what it will work on; it says to who lists processes whose spare this is.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys


def order(arguments: list[str], environment: dict[str, str]) -> str:
    """The line that tells a spare to run its command."""
    return json.dumps({"arguments": arguments, "environment": environment}) + "\n"


def main() -> None:
    """Load, wait, run."""
    module, _folder, *others = sys.argv[1:]
    for name in (module, *others):
        importlib.import_module(name)
    line = sys.stdin.readline()
    if not line:
        return
    told = json.loads(line)
    os.environ.update(told["environment"])
    sys.argv[1:] = told["arguments"]
    # It is to be run as the main module, and not to be found as one that was loaded.
    del sys.modules[module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
