"""Flow: which of the values that Python code binds to a name can reach a place where the name is used.

Told from where assignments and uses stand: in which order, and in which blocks within blocks. An assignment hides the
earlier ones from what comes behind it in its own block; a loop brings later ones back. Where that is not enough to
tell, a value is taken to reach the place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from arrowproof.model.record import record

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@record
class Block:
    """A block of statements: which field of which statement, by the statement's number, and whether it may repeat."""

    owner: int
    field: str
    is_loop: bool = False
    is_either_or: bool = False


@record
class Spot:
    """A place in a scope: its blocks from the outermost one, and its line and column."""

    blocks: tuple[Block, ...]
    at: tuple[int, int]

    def is_ahead_of(self, other: Spot) -> bool:
        """Whether whatever comes to the other place has been here before, in the same round of each loop."""
        return self.at < other.at and other.blocks[: len(self.blocks)] == self.blocks

    def may_precede(self, other: Spot) -> bool:
        """Whether the other place can be come to after this one."""
        shared = shared_blocks(self, other)
        if any(block.is_loop for block in self.blocks[:shared]):
            return True
        if self.at >= other.at:
            return False
        mine, theirs = self.blocks[shared : shared + 1], other.blocks[shared : shared + 1]
        return not (mine and theirs and mine[0].owner == theirs[0].owner and mine[0].is_either_or)


def shared_blocks(first: Spot, second: Spot) -> int:
    """How many of their blocks two places have in common."""
    pairs = enumerate(zip(first.blocks, second.blocks, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first.blocks), len(second.blocks)))


def reaching(assigned: Sequence[Spot], use: Spot) -> list[int]:
    """The assignments, by their indices, whose values can be what a name has at ``use``."""
    ahead = [index for index, spot in enumerate(assigned) if spot.is_ahead_of(use)]
    last = max(ahead, key=lambda index: assigned[index].at) if ahead else None
    found = []
    for index, spot in enumerate(assigned):
        is_hidden = last is not None and index != last and _hides(assigned[last], spot, use)
        if not is_hidden and spot.may_precede(use):
            found.append(index)
    return found


def _hides(last: Spot, spot: Spot, use: Spot) -> bool:
    """Whether an assignment that is always made ahead of the use comes after another one."""
    if spot.at < last.at:
        return True
    return spot.at > use.at and all(block in last.blocks for block in spot.blocks if block.is_loop)


def with_blocks(body: Iterable[ast.AST]) -> Iterator[tuple[ast.AST, tuple[Block, ...]]]:
    """The nodes of a scope in the order of the text, each with the blocks that it stands in.

    Not those of the scopes inside it; what these are given when they are made (defaults, decorators) is.
    """
    todo = [(node, tuple[Block, ...]()) for node in body][::-1]
    count = 0
    while todo:
        node, blocks = todo.pop()
        yield node, blocks
        if isinstance(node, SCOPES):
            todo += [(each, blocks) for each in given_at_definition(node)][::-1]
            continue
        children: list[tuple[ast.AST, tuple[Block, ...]]] = []
        has_blocks = isinstance(node, _WITH_BLOCKS)
        count += has_blocks
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                inner = _blocks_of(node, name, count, blocks) if has_blocks else blocks
                children += [(each, inner) for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, _SIGNS):
                is_test = name == "test" and isinstance(node, ast.While)
                children.append((value, _blocks_of(node, name, count, blocks) if is_test else blocks))
        todo += children[::-1]


_WITH_BLOCKS = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith),
    *(ast.ExceptHandler, ast.match_case),
)
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def _blocks_of(node: ast.AST, field: str, number: int, outer: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks that one field of a node stands in. The condition of a ``while`` is looked at in every round."""
    if isinstance(node, ast.While) and field == "test":
        field = "body"
    elif field not in ("body", "orelse"):
        return outer
    return (*outer, Block(number, field, field == "body" and isinstance(node, _LOOPS), isinstance(node, ast.If)))


def given_at_definition(node: ast.AST) -> Iterator[ast.AST]:
    """What a function or class takes from the scope around it: decorators, defaults, bases."""
    if isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *node.keywords)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        yield from () if isinstance(node, ast.Lambda) else node.decorator_list
        yield from (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None))


def spot_of(node: ast.AST, blocks: tuple[Block, ...], is_end: bool = False) -> Spot:
    """The place of a node; of its end, for an assignment, whose value is made before it is bound."""
    if is_end:
        return Spot(blocks, (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0))
    return Spot(blocks, (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
