"""Pages that can be followed: their files are written, their commands run, their outputs read.

A block of a page is followed from top to bottom, in one empty folder:

- `<!-- file: NAME -->` before a block writes it to a file, `<!-- append: NAME -->` adds it to one;
- `<!-- change: NAME -->` before a `diff` block mends a file, `<!-- change: A to B -->` makes
  another one of it;
- a `console` block runs each `$ simulation …`; `<!-- exit: N -->` before it names an exit code
  that is not 0;
- a `python` block runs, with the names of the ones before;
- the `text` block after it shows what was printed, by the last of the commands where there are
  several. `<!-- from: TEXT -->` shows it from the line that begins so on, `<!-- until: TEXT -->`
  up to the line before; what is left out there is a line `…`.

Other blocks (`sh`, `yaml` without a mark, …) are read and not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulation.cli.app import execute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = re.compile(
    r"^(?P<marks>(?:<!-- [^\n]* -->\n)*)```(?P<kind>[a-z]+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"<!-- (\w+): (.*?) -->")
_TIMING = re.compile(r"turns in .* s \(.*/s\)")
_CUT = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An output as the page shows it (`told`) and as it is (`found`), with its place."""

    told: str
    found: str
    start: int
    end: int


@dataclass(slots=True)
class Walk:
    """Follows one page in a folder. said: the last output.  names: those of the Python."""

    folder: Path
    said: str = ""
    names: dict[str, Any] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)

    def follow(self, page: str) -> list[Shown]:
        """Do all that a page says, and return the outputs that it shows."""
        with _working_in(self.folder):
            for block in BLOCK.finditer(page):
                self._do(block)
        return self.shown

    def _do(self, block: re.Match[str]) -> None:
        marks = dict(_MARK.findall(block["marks"]))
        kind, body = block["kind"], block["body"]
        if kind == "text" and "file" not in marks:
            start, end = block.span("body")
            found = _part(self.said, marks)
            self.shown.append(Shown(told=body, found=found, start=start, end=end))
        elif kind == "console":
            self._run(body, int(marks.get("exit", "0")))
        elif kind == "python":
            self._execute(body)
        else:
            self._write(marks, body)

    def _run(self, body: str, wanted: int) -> None:
        for line in body.replace("\\\n", " ").splitlines():
            assert line.startswith("$ simulation "), line
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = execute(shlex.split(line, comments=True)[2:])
            assert code == wanted, f"{line}\n{err.getvalue()}"
            self.said = out.getvalue() if code == 0 else err.getvalue()

    def _execute(self, body: str) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(body, "page", "exec"), self.names)  # noqa: S102 - the page's own code
        self.said = out.getvalue()

    def _write(self, marks: dict[str, str], body: str) -> None:
        if "file" in marks:
            (self.folder / marks["file"]).write_text(body, "utf-8")
        elif "append" in marks:
            with (self.folder / marks["append"]).open("a", encoding="utf-8") as file:
                file.write("\n" + body)
        elif "change" in marks:
            source, _, target = marks["change"].partition(" to ")
            text = (self.folder / source).read_text("utf-8")
            (self.folder / (target or source)).write_text(_changed(text, body), "utf-8")


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, with lines of 80 columns."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def _changed(text: str, diff: str) -> str:
    """Return a text after a diff without line numbers; hunks are parted by lines `@@`."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _part(said: str, marks: dict[str, str]) -> str:
    """Return the lines of an output that the marks ask for, without blanks at their ends."""
    lines = [line.rstrip() for line in said.strip("\n").splitlines()]
    start, end = 0, len(lines)
    if "from" in marks:
        start = next(i for i, line in enumerate(lines) if line.startswith(marks["from"]))
    if "until" in marks:
        after = range(start, len(lines))
        end = next(i for i in after if lines[i].startswith(marks["until"]))
    kept = [*[_CUT] * (start > 0), *lines[start:end], *[_CUT] * (end < len(lines))]
    return "\n".join(kept) + "\n"


def without_times(text: str) -> str:
    """Return an output without what is another in every run."""
    return _TIMING.sub("turns", text)


def with_outputs(page: str, shown: list[Shown]) -> str:
    """Return a page that shows what was found; where only times differ it stays as it is."""
    for each in reversed(shown):
        if without_times(each.told) != without_times(each.found):
            page = page[: each.start] + each.found + page[each.end :]
    return page
