"""The layout of a run database, as SQL scripts beside this file."""

from __future__ import annotations

import re
from importlib import resources

SCHEMA_VERSION = 4


def layout() -> str:
    """Return the SQL that makes all tables and views, with their comments."""
    here = resources.files("simulation.runlog")
    scripts = (here.joinpath(name).read_text("utf-8") for name in ("schema.sql", "views.sql"))
    return "\n".join(scripts)


def interviews_layout() -> str:
    """Return the SQL that makes the tables of a transcript, with their comments.

    Table `model_calls` is that of a run database, word for word.
    """
    own = resources.files("simulation.runlog").joinpath("interviews.sql").read_text("utf-8")
    calls = re.findall(
        r"^(?:CREATE TABLE|COMMENT ON TABLE|COMMENT ON COLUMN) model_calls\b.*?;$",
        layout(),
        re.MULTILINE | re.DOTALL,
    )
    return "\n".join([own, *calls])


# Settings of every connection. A run database never needs an extension, another file or a Python
# variable, so none can be reached: not by a view in a file that a stranger sent, either.
CONNECTION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
    "python_enable_replacements": False,
    "preserve_insertion_order": False,
    "temp_directory": "",  # no spill files beside the run
    "threads": 2,
}
