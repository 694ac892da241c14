"""Read the text of the Grid field as syntax: literals, ranges, spaced numbers, names.

Anyone who sees the widget can type here, also on a page that serves the notebook. So no text is
run: it is parsed, every node that is not listed here is refused, and sizes are checked before
anything is allocated.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import FamilyError

LONGEST = 50_000  # characters of a text
MOST = 10_000  # values of all ranges and arrays of a text, and settings of a grid
DEEPEST = 30  # nodes of the syntax tree inside each other
WIDEST = 1024  # bits of a whole number: as far as floats go
LARGEST = 2.0**63  # argument of numpy's functions
LITERALS = (bool, int, float, str, type(None))
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
NUM = {"start": None, "stop": None, "num": 50, "endpoint": True}
# Functions of numpy: the parameters that may be typed, with their defaults.
SPACED: dict[str, dict[str, Any]] = {
    "linspace": NUM,
    "logspace": NUM | {"base": 10.0},
    "geomspace": NUM,
    "arange": {"start": 0, "stop": None, "step": 1},
}
CONSTANTS = {"inf": math.inf, "nan": math.nan}  # np.inf, np.nan
NOT_FINITE = (["inf"], ["-inf"], ["nan"])  # arguments of float, as copied code has them
KINDS: dict[type, str] = {
    ast.Attribute: "an attribute",
    ast.Call: "a call",
    ast.Subscript: "a subscript",
    ast.Lambda: "a lambda",
    ast.Starred: "a star",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: "an assignment",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Set: "a set",
}
SHELLS = ("In", "Out")  # names of the notebook that hold its cells


def read_arguments(
    text: str, names: Mapping[str, Any], example: str
) -> tuple[list[Any], dict[str, Any]]:
    """Read positional and keyword arguments of a short-hand; errors recommend the `example`.

    >>> read_arguments("k=range(1, 4), scale=False", {}, "k=[1, 10]")
    ([], {'k': range(1, 4), 'scale': False})
    """
    reader = Reader(text, f"f({text}\n)", names, example)
    call = reader.tree
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise reader.refusal("a bracket that closes too early")
    given = [reader.value(argument) for argument in call.args]
    named = reader.keywords(call)
    reader.check_settings([dict(enumerate(given)) | named])
    return given, named


def read_grid(text: str, names: Mapping[str, Any], example: str) -> Any:
    """Read a grid as ParameterGrid takes it; {} for an empty text.

    >>> read_grid("{'C': [10**-1, 1], 'kernel': kernels}", {"kernels": ["rbf", "linear"]}, "")
    {'C': [0.1, 1], 'kernel': ['rbf', 'linear']}
    """
    if not text.strip():
        return {}
    reader = Reader(text, text.strip(), names, example)
    grid = reader.value(reader.tree)
    reader.check_settings(grid if isinstance(grid, list | tuple) else [grid])
    return grid


def names_in(text: str) -> set[str]:
    """Return the names in an expression or in arguments; none if the text is neither."""
    try:
        tree = ast.parse(f"f({text}\n)", mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return set()
    names = {node.id for node in ast.walk(tree.body) if isinstance(node, ast.Name)}
    return names - {"f"}


def numpy_imports(text: str) -> set[tuple[str, str]]:
    """Return the imports from numpy that copied code needs for a typed text."""
    names = names_in(text)
    imports = {("numpy", name) for name in names & SPACED.keys()}
    return imports | {("numpy", "")} if "np" in names else imports


class Reader:
    """The syntax tree of one text, and the values of its nodes."""

    def __init__(
        self, text: str, source: str, names: Mapping[str, Any], example: str
    ) -> None:
        self.source, self._names, self._example = source, names, example
        self._left = MOST
        if len(text) > LONGEST:
            raise self.refusal(f"{len(text)} characters, more than {LONGEST}")
        try:
            self.tree = ast.parse(source, mode="eval").body
        except (MemoryError, RecursionError):  # raised by the parser
            raise self._too_deep() from None
        except (
            SyntaxError,
            ValueError,
        ) as error:  # ValueError: half a surrogate pair, a nul
            why = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
            raise FamilyError(
                f"the grid {_short(text)} is no Python ({why}); type values such as {example}."
            ) from None
        if _depth(self.tree) > DEEPEST:
            raise self._too_deep()

    def refusal(self, what: str) -> FamilyError:
        """Return the error for a part of the text, with what to type instead."""
        return FamilyError(
            f"the grid has {what}. Type lists of numbers and words, range, np.linspace, "
            "np.logspace, np.geomspace, np.arange or names of the notebook, such as "
            f"{self._example}; make anything else in a cell and type its name."
        )

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        if isinstance(node, ast.Constant) and type(node.value) in LITERALS:
            return self._number(node.value) if type(node.value) is int else node.value
        if isinstance(node, ast.List):
            return [self.value(element) for element in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(self.value(element) for element in node.elts)
        if isinstance(node, ast.Dict):
            items = zip(node.keys, node.values, strict=True)
            return {self._key(key): self.value(value) for key, value in items}
        if isinstance(node, ast.UnaryOp):
            return self._signed(node)
        if isinstance(node, ast.BinOp):
            return self._computed(node)
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Call):
            return self._called(node)
        if (name := _of_numpy(node)) in CONSTANTS:
            return CONSTANTS[name]
        raise self._odd(node)

    def keywords(self, call: ast.Call) -> dict[str, Any]:
        """Return the keyword arguments of a call; none may occur twice."""
        values: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise self.refusal("two stars")
            if keyword.arg in values:
                raise self.refusal(f"{keyword.arg!r} twice")
            values[keyword.arg] = self.value(keyword.value)
        return values

    def check_settings(self, grids: Iterable[Any]) -> None:
        """Refuse more settings than anybody reads on a screen; named lists count too."""
        dicts = [grid for grid in grids if type(grid) is dict]
        if sum(math.prod(map(_length, grid.values())) for grid in dicts) > MOST:
            raise self.refusal(f"more than {MOST} settings")

    def _odd(self, node: ast.AST) -> FamilyError:
        text = ast.get_source_segment(self.source, node) or ""
        return self.refusal(f"{KINDS.get(type(node), 'an expression')}, {_short(text)}")

    def _too_deep(self) -> FamilyError:
        return self.refusal("too many brackets or operators inside each other")

    def _take(self, n: int) -> None:
        """Count n values of a range or an array before they are made."""
        self._left -= n
        if self._left < 0:
            raise self.refusal(f"ranges and arrays of more than {MOST} values")

    def _key(self, node: ast.expr | None) -> Any:
        if not isinstance(node, ast.Constant | ast.UnaryOp):
            raise self.refusal("a key that is no word and no number")
        return self.value(node)

    def _number(self, value: Any) -> Any:
        if type(value) not in (int, float):
            raise self.refusal(f"arithmetic on a value of type {type(value).__name__}")
        if type(value) is int and value.bit_length() > WIDEST:
            raise self.refusal(f"a whole number of more than {WIDEST} bits")
        return value

    def _signed(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.USub | ast.UAdd):
            raise self._odd(node)
        value = self._number(self.value(node.operand))
        return -value if isinstance(node.op, ast.USub) else value

    def _computed(self, node: ast.BinOp) -> Any:
        """Return the sum, difference, product, quotient or power of two numbers."""
        if type(node.op) not in OPERATORS:
            raise self._odd(node)
        left = self._number(self.value(node.left))
        right = self._number(self.value(node.right))
        is_power = isinstance(node.op, ast.Pow) and type(left) is type(right) is int
        if is_power and left.bit_length() * right > WIDEST:
            raise self.refusal(f"a whole number of more than {WIDEST} bits")
        try:
            return self._number(OPERATORS[type(node.op)](left, right))
        except ArithmeticError as error:
            raise self.refusal(f"a number that cannot be computed ({error})") from None

    def _named(self, name: str) -> Any:
        """Look up a value of the notebook; it is never called."""
        if name.startswith("_") or name in SHELLS:
            raise self.refusal(f"the private name {_short(name)}")
        if name not in self._names:
            raise self.refusal(
                f"the name {_short(name)}, which the notebook does not have"
            )
        value = self._names[name]
        is_estimator = hasattr(type(value), "get_params")
        if callable(value) and not is_estimator:  # a fit would call it
            raise FamilyError(
                f"the grid has {name!r}, a function or class of the notebook, which a fit "
                "could call; set builder.family in a cell to use it."
            )
        if isinstance(value, str | bytes):  # an error message would show a secret
            raise FamilyError(
                f"the grid has {name!r}, the name of a text; type the text itself, in quotes."
            )
        if hasattr(type(value), "__next__"):  # reading it would run code
            raise FamilyError(
                f"the grid has {name!r}, an iterator; write {name} = list({name}) in a cell."
            )
        return value

    def _called(self, node: ast.Call) -> Any:
        """Evaluate range, np.array, numpy's spaced numbers, or float of a word; no other call."""
        bare = node.func.id if isinstance(node.func, ast.Name) else ""
        name = bare or _of_numpy(node.func)
        if name in SPACED:
            return self._spaced(name, node)
        if node.keywords:
            raise self._odd(node)
        if bare == "range":
            return self._range([self.value(argument) for argument in node.args])
        if bare == "float":
            words = [getattr(argument, "value", None) for argument in node.args]
            if words in NOT_FINITE:
                return float(str(words[0]))
        if (
            name == "array"
            and len(node.args) == 1
            and isinstance(node.args[0], ast.List)
        ):
            return self._array(node.args[0])
        raise self._odd(node)

    def _range(self, given: list[Any]) -> range:
        whole = 1 <= len(given) <= 3 and all(type(number) is int for number in given)
        if not whole or (len(given) == 3 and not given[2]):
            raise self.refusal(
                "a range of something else than one to three whole numbers, the third of them not 0"
            )
        made = range(*given)
        self._take(_length(made))
        return made

    def _array(self, node: ast.List) -> np.ndarray:
        """Return an array of literals, as copied code has it."""
        nodes = [element for element in node.elts if not isinstance(element, ast.Name)]
        values = [self.value(element) for element in nodes]
        literal = all(type(value) in LITERALS for value in values)
        if len(nodes) < len(node.elts) or not literal:
            raise self.refusal(
                "np.array of something else than a list of numbers or words"
            )
        widths = [len(value) for value in values if isinstance(value, str)]
        self._take(
            len(values) * max(widths, default=1)
        )  # numpy stores words at equal width
        return np.array(values)

    def _spaced(self, name: str, node: ast.Call) -> np.ndarray:
        """Return the value of a function of SPACED; its length is checked before the call."""
        options = self._options(name, node)
        numbers = {key: value for key, value in options.items() if key != "endpoint"}
        for value in numbers.values():
            if type(value) not in (int, float) or not abs(value) < LARGEST:
                raise self.refusal(f"{name} of what is no number, or too large a one")
        try:
            self._take(_spaced_length(numbers))
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                values = np.asarray(getattr(np, name)(**options))
        except FamilyError:
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise self.refusal(f"{name} that cannot be computed ({error})") from None
        if values.dtype.kind not in "if":
            raise self.refusal(f"{name} of numbers that are not real")
        return values

    def _options(self, name: str, node: ast.Call) -> dict[str, Any]:
        """Return all arguments of a function of SPACED by name."""
        known = SPACED[name]
        given = [self.value(argument) for argument in node.args]
        if name == "arange" and len(given) == 1:
            given = [0, *given]
        if len(given) > len(known):
            raise self._odd(node)
        by_place, by_name = dict(zip(known, given, strict=False)), self.keywords(node)
        options = known | by_place | by_name
        twice = by_place.keys() & by_name.keys()
        is_flag = type(options.get("endpoint", True)) is bool
        if twice or options.keys() != known.keys() or not is_flag:
            raise self.refusal(f"{name} with arguments that are not {', '.join(known)}")
        return options


def _spaced_length(numbers: Mapping[str, Any]) -> int:
    if "num" in numbers:
        return max(0, operator.index(numbers["num"]))
    return max(0, math.ceil((numbers["stop"] - numbers["start"]) / numbers["step"]))


def _length(values: Any) -> int:
    """Return how many settings an axis has.

    len() fails on a long range, and would call a method of a user's class.
    """
    if type(values) is range:
        return max(0, -((values.start - values.stop) // values.step))
    if type(values) is np.ndarray:
        return values.size
    return len(values) if type(values) in (list, tuple) else 1


def _of_numpy(node: ast.AST) -> str:
    """Return "logspace" for np.logspace; "" for anything but an attribute of np."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return ""
    return node.attr if node.value.id == "np" else ""


def _depth(tree: ast.AST) -> int:
    """Return how many nodes are inside each other, without recursion."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _short(text: str) -> str:
    """Quote a text on one line of at most 60 characters."""
    shown = repr(text)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
