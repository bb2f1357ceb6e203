"""Columns: which columns of a table contain candidates, references, sources and judgements."""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nlgauge.core.errors import FileError, OptionError

# The first name is the one used by nlgauge; the others are used by other tools.
COLUMNS: dict[str, tuple[str, ...]] = {
    "candidate": ("candidate", "prediction", "hypothesis", "hyp", "mt", "output", "candidates"),
    "references": ("references", "reference", "ref", "refs", "target", "targets"),
    "source": ("source", "src", "input"),
    "system": ("system", "model", "sys"),
    "id": ("id", "segment", "seg_id", "segment_id"),
}
Given = Mapping[str, str | Sequence[str]] | str | Iterable[str] | None
"""``{"candidate": "mt", ...}``, or texts such as ``candidate=mt,reference=ref``."""

_TEXT_ROLES = (
    *("candidate", "reference", "source", "system", "id", "segment", "document", "human"),
    *("scores", "systems"),
)
_PLURALS = {"candidates": "candidate", "reference": "references", "sources": "source"}
_REPEATED = ("references", "systems", "human", "scores")
_NUMBERED = re.compile(r"(?:reference|ref)[ _.-]?(\d+)")
_ITEM = re.compile(r'(?:[^,"]|"(?:[^"]|"")*")+')


@dataclass(frozen=True)
class Columns:
    """Columns named by the user; other columns are found by their usual names.

    Each of the columns ``systems`` has the outputs of one system. Without a header line
    (``header``), columns are named by their numbers, from 1.
    """

    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    header: bool = True

    @classmethod
    def of(
        cls, given: Given = None, *, header: bool = True, roles: Sequence[str] = _TEXT_ROLES
    ) -> "Columns":
        """Return the columns of a mapping from roles to names, or of texts ``role=name,...``."""
        named: dict[str, tuple[str, ...]] = {}
        for role, column in _pairs(given):
            key = _PLURALS.get(role, role)
            if key.partition(".")[0] not in [_PLURALS.get(known, known) for known in roles]:
                known = ", ".join(roles)
                raise OptionError(f"columns: unknown role {role!r}; the roles are {known}")
            if column in named.get(key, ()):
                raise OptionError(f"columns: {column!r} is named twice as {role}; name it once")
            if key in named and key not in _REPEATED:
                twice = f"{named[key][0]!r} and {column!r}"
                raise OptionError(f"columns: {role} is given twice, as {twice}; give it once")
            named[key] = (*named.get(key, ()), column)
        for first, second in (("candidate", "systems"), ("system", "systems"), ("id", "segment")):
            if first in named and second in named:
                both = "name one of them"
                raise OptionError(f"columns: {first} and {second} exclude each other; {both}")
        return cls(named, header)

    def __bool__(self) -> bool:
        return bool(self.named) or not self.header

    def to_dict(self) -> dict[str, list[str]]:
        """Return the named columns by role, for `of`."""
        return {role: list(columns) for role, columns in self.named.items()}

    def refuse(self, roles: Iterable[str], reason: str) -> None:
        """Raise an error if a column is named for one of these roles."""
        for role in self.named:
            if role.partition(".")[0] in roles:
                raise OptionError(f"columns: {role} does not apply: {reason}")

    def with_id(self, column: str | None) -> "Columns":
        """Return the columns with this one as the id of rows, unless the user named one."""
        if column is None or {"id", "segment"} & self.named.keys():
            return self
        return replace(self, named={**self.named, "id": (column,)})

    def find(self, columns: Collection[Any], where: str = "the row") -> dict[str, tuple[Any, ...]]:
        """Return the columns of a table of texts by role, or raise a FileError."""
        wide = "systems" in self.named
        roles = {"systems": self.find_role("systems", columns, where)} if wide else {}
        for role in COLUMNS:
            if wide and role in ("candidate", "system"):
                continue
            roles[role] = self.find_role(role, columns, where)
        for role in ("candidate", "references"):
            # Rows with a source need no references, because some metrics need none.
            if not roles.get(role) and not (wide if role == "candidate" else roles["source"]):
                way = f"name it with --columns {role.removesuffix('s')}=COLUMN"
                if self.header:
                    way += ", or add --no-header to a TSV or CSV without a header line"
                raise FileError(f"{_missing(where, columns, COLUMNS[role])}; {way}")
        return {role: keys for role, keys in roles.items() if keys}

    def find_role(
        self, role: str, columns: Collection[Any], where: str = "the row"
    ) -> tuple[Any, ...]:
        """Return the columns of one role: the named ones, else by their usual names."""
        named = self.named.get(role) or (self.named.get("segment") if role == "id" else None)
        if named:
            return self.check(role, named, columns, where)
        taken = {name for names in self.named.values() for name in names}
        free = [column for column in columns if column not in taken]
        if role == "id":
            key = find_column(free, COLUMNS[role])
            return () if key is None else (key,)
        matching = [column for column in free if _plain(column) in COLUMNS.get(role, ())]
        if role == "references":
            numbered = {c: int(m[1]) for c in free if (m := _NUMBERED.fullmatch(_plain(c)))}
            if not matching and len(set(numbered.values())) == len(numbered):
                return tuple(sorted(numbered, key=lambda column: numbered[column]))
            matching += numbered
        if len(matching) > 1:
            raise FileError(_ambiguous(role, matching, where))
        return tuple(matching)

    def check(
        self, role: str, named: tuple[str, ...], columns: Collection[Any], where: str
    ) -> tuple[str, ...]:
        """Return the named columns, or raise a FileError that lists the existing columns."""
        for name in named:
            if name not in columns:
                named_for = f"which is named as {role.removesuffix('s')}"
                has = _listed(columns)
                raise FileError(f"{where} has no column {name!r}, {named_for}; it has {has}")
        return named

    def judged(self, kind: str) -> dict[str, str]:
        """Return the columns named as ``human`` or ``scores``, by criterion or metric."""
        single = {name: name for name in self.named.get(kind, ())}
        dotted = {
            role[len(kind) + 1 :]: names[0]
            for role, names in self.named.items()
            if role.startswith(f"{kind}.")
        }
        return single | dotted


USUAL = Columns()  # all are found by their usual names


def split_names(text: str) -> list[str]:
    """Split a comma-separated list; a name with a comma is put in quotation marks."""
    return [_unquoted(item) for item in _ITEM.findall(text) if item.strip()]


def find_column(columns: Iterable[Any], names: Sequence[str]) -> Any | None:
    """Return the column with one of the names, ignoring case; earlier names take precedence."""
    lowered = {_plain(key): key for key in columns}
    return next((lowered[name] for name in names if name in lowered), None)


def require_column(where: str, columns: Iterable[Any], names: Sequence[str]) -> Any:
    """Return the column with one of the names, or raise a FileError that lists them."""
    column = find_column(columns, names)
    if column is None:
        raise FileError(_missing(where, columns, names))
    return column


def check_distinct(where: str, names: Iterable[str]) -> None:
    """Raise a FileError if two columns have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise FileError(f"{where} names {name!r} twice; rename one of the columns")


def find_cell(where: str, row: Mapping[Any, Any], key: Any) -> Any:
    """Return the cell of a column that the first row has, or raise a FileError."""
    if key not in row:
        raise FileError(f"{where} has no column {key!r}, which the first row has")
    return row[key]


def _pairs(given: Given) -> Iterable[tuple[str, str]]:
    if isinstance(given, Mapping):
        for role, columns in given.items():
            for column in [columns] if isinstance(columns, str) else columns:
                yield str(role), str(column)
        return
    for text in [given] if isinstance(given, str) else given or ():
        for item in _ITEM.findall(text):
            role, equals, column = item.partition("=")
            if not (equals and role.strip() and column.strip()):
                example = "candidate=mt,reference=ref"
                raise OptionError(f"columns: {item!r} is not ROLE=COLUMN; write {example}")
            yield role.strip(), _unquoted(column)


def _unquoted(text: str) -> str:
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] == '"':
        return plain[1:-1].replace('""', '"')
    return plain


def _plain(column: Any) -> str:
    return str(column).strip().lower()


def _listed(columns: Iterable[Any]) -> str:
    return ", ".join(map(repr, columns))[:200] or "nothing"


def _missing(where: str, columns: Iterable[Any], names: Sequence[str]) -> str:
    accepted, has = ", ".join(names), _listed(columns)
    return f"{where} has no column {names[0]!r} (accepted: {accepted}); it has {has}"


def _ambiguous(role: str, columns: Sequence[Any], where: str) -> str:
    one = role.removesuffix("s")
    options = [f"{one}={_quoted(str(column))}" for column in columns]
    ways = f"--columns {shlex.quote(options[0])}"
    if role == "references":
        ways += f", or all of them with --columns {shlex.quote(','.join(options))}"
    names = " and ".join(map(repr, columns))
    return f"{where} has the columns {names}, which could all be the {one}; choose with {ways}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(',"') & set(name) else name
