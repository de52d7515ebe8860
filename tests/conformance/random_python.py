"""Random Python programs that put SQL together, for the scan to be held against what SQLite is really given by them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

TABLES = ("jobs", "notes")
STATES = ("a", "b", "c")


@dataclass
class Program:
    """Writes one program: statements of Python that bind strings to names and run them."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    count: int = 0

    def write(self) -> str:
        """A module with a function ``main(run, flag)``: ``run`` is given SQL, ``flag()`` is true or false."""
        head = ["T = 'jobs'", "S = 'a'", "W = {'x': \" WHERE status = 'b'\", 'y': ''}", "L = [' WHERE id = 1', '']"]
        head += ["class K:", "    T = 'jobs'", "    S = 'c'", "    def where(self):"]
        head += ["        return f\" WHERE status = '{self.S}'\"", "class M(K):", "    S = 'b'", "G = ''"]
        if self.random.random() < 0.3:
            head += ["def bind():", "    global S", "    S = 'b'"]
        else:
            head += ["def bind(): pass"]
        for _ in range(self.random.randint(2, 6)):
            self._statement("    ")
        body = self.lines or ["    pass"]
        return "\n".join([*head, "def main(run, flag, item):", "    bind()", *body, ""])

    def _statement(self, indent: str, depth: int = 0) -> None:
        kind = self.random.randint(0, 9)
        if kind <= 2 or not self.names:
            self._bind(indent)
        elif kind <= 4:
            self.lines.append(f"{indent}{self.random.choice(self.names)} += {self._part()}")
        elif kind == 5 and depth < 2:
            opening = self.random.choice(("if flag():", "for _ in range(item((1, 2))):", "while flag():"))
            self.lines.append(f"{indent}{opening}")
            for _ in range(self.random.randint(1, 2)):
                self._statement(indent + "    ", depth + 1)
        elif kind == 6:
            name = self.random.choice(self.names)
            self.lines.append(f"{indent}{name} = {self.random.choice((f'{name} + {self._part()}', self._whole()))}")
        else:
            self.lines.append(f"{indent}run({self._run()})")

    def _bind(self, indent: str) -> None:
        self.count += 1
        name = f"q{self.count}"
        self.lines.append(f"{indent}{name} = {self._whole()}")
        if indent == "    ":
            self.names.append(name)

    def _whole(self) -> str:
        """An expression that makes a whole statement, or the beginning of one."""
        return self.random.choice(
            [
                "'DELETE FROM jobs'",
                "b'DELETE FROM jobs'.decode()",
                "f'DELETE FROM {T}'",
                "'DELETE FROM ' + K.T",
                "'DELETE FROM %s' % T",
                "'DELETE FROM {}'.format(item(['jobs', 'notes']))",
                "\"UPDATE jobs SET status = 'b'\"",
                "f\"UPDATE jobs SET status = '{S}'\"",
                "\"UPDATE jobs SET status = '{s}'\".format(s=item(['a', 'b']))",
                "'UPDATE ' + item(['jobs', 'notes']) + \" SET status = 'c'\"",
                "' '.join(['UPDATE jobs SET', \"status = 'a'\"])",
                "\"UPDATE X SET status = 'b'\".replace('X', 'jobs')",
                "\"UPDATE X SET status = 'b'\".replace('X', item(['jobs', 'notes']))",
                "'xxDELETE FROM jobs'[2:]",
                "'DELETE FROM jobs|DELETE FROM notes'.split('|')[item([0, 1])]",
                "('DELETE FROM jobs' if flag() else \"UPDATE jobs SET status = 'c'\")",
                "item(['', None]) or 'DELETE FROM jobs'",
                "{'x': 'DELETE FROM jobs', 'y': 'DELETE FROM notes'}[item(['x', 'y'])]",
                "'UPDATE jobs SET note = 1'",
            ]
        )

    def _part(self) -> str:
        """What may follow a statement."""
        return self.random.choice(
            [
                "\" WHERE status = 'a'\"",
                "W[item(['x', 'y'])]",
                "L[0]",
                "L[item([0, 1])]",
                "f\" WHERE status = '{S}'\"",
                "K().where()",
                "M().where()",
                "(\" WHERE id = 1\" if flag() else '')",
                "' WHERE id = %d' % item([1, 2])",
                "\", status = 'c'\"",
                "''",
                "\" WHERE STATUS = 'a'\".lower()",
                "item(['', ' WHERE id = 2'])",
                "G",
            ]
        )

    def _run(self) -> str:
        name = self.random.choice(self.names)
        more = f"{name} + {self._part()}"
        filled = f"f'{{{name}}}{{{self._part_name()}}}'"
        return self.random.choice(
            [name, more, f"({more}).strip()", self._whole(), f"{self._whole()} + {self._part()}", filled]
        )

    def _part_name(self) -> str:
        return self.random.choice(["L[1]", "G", "L[item([0, 1])]"])


def program(seed: int) -> str:
    """The text of one program."""
    return Program(random.Random(seed)).write()
