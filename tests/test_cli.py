"""The command line as a whole: verbs, usage, exit codes, errors, and what help costs."""

from __future__ import annotations

import errno
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
import pytest

from simulation.cli import app, main, shipped
from simulation.cli.app import execute, program
from simulation.cli.shipped import shipped_scenarios
from simulation.cli.verbs import VERBS
from simulation.errors import InputError, Problem, RunStoppedError, ScenarioError, SimulationError

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).resolve().parents[1] / "docs" / "command-line.md"
HEAVY = ("numpy", "duckdb", "mesa", "pydantic", "pyarrow", "networkx", "rich", "yaml", "anthropic")

Run = tuple[int, str, str]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs a command line: its exit code, stdout and stderr."""

    def run(*words: str) -> Run:
        code = execute(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def verb(name: str) -> click.Command:
    command = program.get_command(click.Context(program), name)
    assert command is not None
    return command


def documented(name: str) -> str:
    """Return a verb's section of the documentation."""
    pattern = rf"^## {name}$.*?(?=^## |\Z)"
    found = re.search(pattern, DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[0]


def failing(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def test_help_lists_every_verb_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from simulation.cli.app import execute\n"
        "assert execute(['--help']) == 0\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"  {name} " in done.stdout for name in VERBS)
    assert [name for name in HEAVY if f"'{name}'" in done.stderr] == []


def test_help_of_a_verb_imports_no_engine() -> None:
    code = (
        "import sys\n"
        "from simulation.cli.app import execute\n"
        f"for verb in {list(VERBS)}: assert execute([verb, '--help']) == 0\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [name for name in HEAVY if f"'{name}'" in done.stderr] == []


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_explains_itself_with_an_example(name: str, cli: Callable[..., Run]) -> None:
    code, out, err = cli(name, "--help")
    assert (code, err) == (0, "")
    assert f"simulation {name}" in out.partition("Examples:")[2]


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_and_option_is_documented(name: str) -> None:
    section = documented(name)
    for parameter in verb(name).params:
        for option in parameter.opts:
            if isinstance(parameter, click.Option) and option != "--help":
                assert f"`{option}" in section, f"{name} {option}"


@pytest.mark.parametrize("name", VERBS)
def test_every_documented_option_exists(name: str) -> None:
    section = documented(name)
    known = {option for parameter in verb(name).params for option in parameter.opts}
    rows = re.findall(r"^\| (`--.*?) \|", section, re.MULTILINE)
    assert {option for row in rows for option in re.findall(r"`(--[a-z-]+)", row)} <= known


def test_the_documented_verbs_are_the_verbs() -> None:
    table = re.findall(r"^\| \[`(\w+)`\]\(#", DOCS.read_text("utf-8"), re.MULTILINE)
    assert table == list(VERBS)


def test_the_documented_summary_fields_are_the_fields() -> None:
    from simulation.analysis.summary import Summary  # noqa: PLC0415 - keeps this file light

    said = re.search(
        r"`--json` holds the same as fields: (.*?)\. The same", DOCS.read_text(), re.DOTALL
    )
    assert said is not None
    assert re.findall(r"`(\w+)`", said[1]) == list(Summary.__dataclass_fields__)


def test_the_version_is_that_of_the_package(cli: Callable[..., Run]) -> None:
    version = importlib.metadata.version("simulation")
    assert cli("--version") == (0, f"simulation {version}\n", "")


def test_a_shell_that_completes_finds_the_verbs() -> None:
    context = click.Context(program)
    assert program.list_commands(context) == list(VERBS)
    assert program.get_command(context, "rnu") is None


def test_without_a_verb_the_help_is_shown_as_an_error(cli: Callable[..., Run]) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert "Verbs:" in err


@pytest.mark.parametrize(
    ("typed", "meant"), [("rnu", "run"), ("Compare", "compare"), ("validat", "validate")]
)
def test_an_unknown_verb_names_the_nearest_and_all(
    typed: str, meant: str, cli: Callable[..., Run]
) -> None:
    code, out, err = cli(typed, "x.yaml")
    assert (code, out) == (2, "")
    assert f'there is no verb "{typed}"; did you mean "{meant}"?' in err
    assert ", ".join(VERBS) in err


def test_a_verb_like_no_other_gets_the_list_only(cli: Callable[..., Run]) -> None:
    _, _, err = cli("zzz")
    assert 'there is no verb "zzz". Verbs: run' in err


def test_later_verbs_are_no_stubs(cli: Callable[..., Run]) -> None:
    assert cli("resume", "x.duckdb")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run",), "Missing argument 'SCENARIO'"),
        (("run", "x.yaml", "--sede", "3"), 'no option "--sede"; did you mean "--seed"?'),
        (("run", "x.yaml", "--zzzzzz"), 'there is no option "--zzzzzz"\n'),
        (("run", "x.yaml", "--seed", "many"), '"many" is no seed; a seed is a whole number'),
        (("run", "x.yaml", "--seed", str(2**63)), "between -2^63 and 2^63 - 1"),
        (("run", "x.yaml", "y.yaml"), "unexpected extra argument"),
        (("sql", "x.duckdb"), "Missing argument 'QUERY'"),
        (
            ("sql", "x.duckdb", "SELECT 1", "--limit", "0"),
            "is no number of rows; it is a whole number from 1",
        ),
        (("compare",), "Missing argument 'RUN…'"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_code_two(
    words: tuple[str, ...], message: str, cli: Callable[..., Run]
) -> None:
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.splitlines()[-1] == f"Try: simulation {words[0]} --help"
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("the file is odd"), 2, "the file is odd\n"),
        (
            ScenarioError("bar.yaml", [Problem(where="x.y", line=3, message="is wrong")]),
            2,
            "bar.yaml cannot be used (1 problem):\n  line 3  x.y  is wrong\n",
        ),
        (RunStoppedError("interrupted after tick 3"), 1, "interrupted after tick 3\n"),
        (SimulationError("no answer\x1b[2J"), 1, "no answer\\x1b[2J\n"),
        (KeyboardInterrupt(), 130, "\ninterrupted\n"),
        (OSError(errno.ENOSPC, "No space left", "runs/a"), 1, "runs/a: No space left\n"),
        (OSError(errno.EIO, "Input/output error"), 1, "Input/output error\n"),
        (
            ZeroDivisionError("by zero"),
            1,
            "internal error (ZeroDivisionError: by zero); run again with --debug to see where\n",
        ),
    ],
)
def test_an_error_is_a_message_and_a_code_without_a_traceback(
    error: BaseException,
    code: int,
    message: str,
    cli: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simulation.scenario.json_schema", failing(error))
    assert cli("schema") == (code, "", message)


def test_debug_shows_where_and_still_ends_in_the_message(
    cli: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.scenario.json_schema", failing(ZeroDivisionError("by zero")))
    code, _, err = cli("schema", "--debug")
    assert code == 1
    assert "Traceback (most recent call last)" in err
    assert err.splitlines()[-1].startswith("internal error (ZeroDivisionError")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = "from simulation.cli import main; main(['schema'])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_terminal_that_cannot_show_a_character_ends_nothing() -> None:
    code = "from simulation.cli import main; main(['r日n'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": "latin-1"},
    )
    assert done.returncode == 2
    assert b'no verb "r?n"; did you mean "run"?' in done.stderr


def test_the_process_ends_with_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["simulation", "rnu"])
    monkeypatch.setattr("signal.signal", lambda *_: None)  # this process keeps its Ctrl-C
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == app.BAD_INPUT
    assert "rnu" in capsys.readouterr().err


def test_schema_prints_one_json_object(cli: Callable[..., Run]) -> None:
    code, out, _ = cli("schema")
    schema = json.loads(out)
    assert code == 0
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "horizon" in schema["properties"]


def test_init_writes_a_scenario_that_validates_and_never_writes_over(
    cli: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli("init", "my_product")
    assert code == 0
    assert "simulation run my_product.yaml" in out
    written = Path("my_product.yaml").read_text("utf-8")
    code, out, _ = cli("validate", "my_product.yaml")
    assert (code, out.splitlines()[0]) == (0, "my_product.yaml: ok")
    code, out, err = cli("init", "my_product.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("my_product.yaml exists and is not written over")
    assert Path("my_product.yaml").read_text("utf-8") == written


def test_init_refuses_a_name_that_leads_elsewhere(
    cli: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("init", "../elsewhere")[0] == 2
    assert list(tmp_path.parent.glob("elsewhere*")) == []


@pytest.mark.parametrize(("depth", "program"), [("1", "uv run simulation"), ("", "simulation")])
def test_what_is_suggested_is_typed_as_the_program_was_called(
    depth: str, program: str, cli: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", depth)
    assert cli("run")[2].endswith(f"\nTry: {program} run --help\n")
    code = "from simulation.cli import main; main(['sql', '--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"\n    {program} sql runs/a.duckdb " in done.stdout


@pytest.mark.parametrize("name", ["protein_bar", "health_rumour", "town_referendum"])
def test_init_copies_a_scenario_that_ships_by_its_name(
    name: str, cli: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli("init", name)
    assert (code, "a copy of the scenario of that name that ships" in out) == (0, True)
    ours = Path(__file__).parents[1] / "scenarios" / f"{name}.yaml"
    assert Path(f"{name}.yaml").read_bytes() == ours.read_bytes()
    assert cli("validate", f"{name}.yaml")[0] == 0
    assert cli("init", name)[0] == 2


def test_help_of_init_names_every_scenario_that_ships(cli: Callable[..., Run]) -> None:
    said = " ".join(cli("init", "--help")[1].split())
    names = sorted(path.stem for path in (Path(__file__).parents[1] / "scenarios").glob("*.yaml"))
    assert f"Scenarios that ship: {', '.join(names)}." in said
    assert set(shipped_scenarios()) == set(names)


def test_in_a_wheel_the_scenarios_are_those_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel, beside = tmp_path / "_shipped", tmp_path / "scenarios"
    monkeypatch.setattr(shipped, "_FOLDERS", (wheel, beside))
    assert shipped_scenarios() == {}
    for folder in (beside, wheel):
        folder.mkdir()
        (folder / "a.yaml").touch()
        assert shipped_scenarios() == {"a": folder / "a.yaml"}


def test_the_wheel_carries_ontologies_and_scenarios() -> None:
    project = tomllib.loads((DOCS.parents[1] / "pyproject.toml").read_text("utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert carried == {name: f"simulation/_shipped/{name}" for name in ("ontology", "scenarios")}
