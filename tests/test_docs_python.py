"""The page on Python can be followed: its blocks run in order, as one session of a notebook."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import simulation

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(name="names", scope="module")
def all_blocks_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    names: dict[str, Any] = {"__name__": "notebook", "printed": []}
    names["print"] = lambda *said: names["printed"].append(" ".join(map(str, said)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, block in enumerate(BLOCKS):
            code = compile(block, f"docs/python.md, block {number}", "exec")
            exec(code, names)  # noqa: S102 - the page's own code, as a reader runs it
    return names


def test_every_block_of_the_page_runs(names: dict[str, Any]) -> None:
    assert len(BLOCKS) == 9
    assert len(names["late"]) == 300
    assert names["said"].source == "rule"
    assert names["table"].column_names == ["tick", "persona_id", "target", "belief"]
    assert not names["compared"].identical


def test_what_a_comment_of_the_page_says_is_printed_is_printed(names: dict[str, Any]) -> None:
    promised = re.findall(r"print\([^\n]*\)  # (the horizon.*|\{.*)", PAGE)
    assert len(promised) == 2
    assert set(promised) <= set(names["printed"])


def test_the_backend_of_the_page_answers_reflections_and_probes_too(names: dict[str, Any]) -> None:
    loaded = simulation.read_scenario(
        ROOT / "scenarios" / "protein_bar.yaml",
        settings=["population.size=30", "horizon=10", "probes.share=1", "stimuli=[]"],
    )
    society = simulation.Society(loaded, backend=names["Agreeable"]())
    seen: dict[str, set[str]] = {}
    while society.running and society.tick < 10:
        society.step()
        for table in ("turns", "reflections"):
            rows = society.records.of(table)
            if rows is not None:
                source = rows.columns()["source"]
                seen[table] = seen.get(table, set()) | {source.names[c] for c in source.codes}
        assert society.records.of("rejections") is None
    probes = society.records.of("probes")
    assert probes is not None
    assert set(probes.columns()["answer"]) == {"I would rather not say."}
    assert seen == {"turns": {"model"}, "reflections": {"model"}}


def test_the_package_lists_its_public_names_and_each_can_be_had() -> None:
    assert set(simulation.__all__) <= set(dir(simulation))
    assert "Backend" in dir(simulation)
    assert not {"import_module", "TYPE_CHECKING", "annotations", "Any"} & set(dir(simulation))
    assert all(getattr(simulation, name) for name in simulation.__all__)
    with pytest.raises(AttributeError, match="Sociaty"):
        simulation.Sociaty  # noqa: B018 - looking the name up is the test
