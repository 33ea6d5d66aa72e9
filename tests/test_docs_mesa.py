"""The page on Mesa can be followed, as far as that is possible without a browser."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simulation import Society
from simulation.scenario import read_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "mesa.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(name="names", scope="module")
def the_page_was_followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Run the blocks of the page but the last, which needs a browser to be seen."""
    folder = tmp_path_factory.mktemp("mesa")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    names: dict[str, Any] = {"__name__": "page", "said": []}
    names["print"] = lambda *words: names["said"].append(" ".join(map(str, words)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, block in enumerate(BLOCKS[:-1]):
            exec(compile(block, f"docs/mesa.md, block {number}", "exec"), names)  # noqa: S102 - the page's own code
        yield names


def test_agent_sets_select_group_sort_and_count(names: dict[str, Any]) -> None:
    society, said = names["society"], names["said"]
    beliefs = society.world.beliefs[:, society.world.cast.targets.index("C1")]
    assert said[0] == f"{(beliefs > 0.5).sum()} of 150 believe C1"
    groups = eval(said[1])  # noqa: S307 - a dictionary that the page printed
    assert sum(groups.values()) == 150
    assert said[2] == society.world.cast.ids[int(beliefs.argmax())]
    assert said[3] == str(int(society.world.turns.max()))


def test_the_collector_has_a_row_per_tick_and_per_persona(names: dict[str, Any]) -> None:
    watched = names["watched"]
    model = watched.datacollector.get_model_vars_dataframe()
    agents = watched.datacollector.get_agent_vars_dataframe()
    trust = watched.world.cast.targets.index("trust")
    assert len(model) == watched.tick + 1 == watched.steps + 1 == 4
    assert model["trust"].iloc[-1] == pytest.approx(watched.world.beliefs[:, trust].mean())
    assert list(agents.loc[3].index) == list(range(1, 151))
    assert tuple(agents.loc[3]["persona_id"]) == watched.world.cast.ids
    assert list(agents.loc[3]["trust"]) == watched.world.beliefs[:, trust].tolist()


def test_watching_changes_nothing(names: dict[str, Any]) -> None:
    plain = Society(read_scenario(ROOT / "scenarios" / "protein_bar.yaml"), seed=7)
    for _ in range(3):
        plain.step()
    assert plain.world.digest() == names["watched"].world.digest()


def test_mesas_own_shuffle_does_not_reach_the_simulation(names: dict[str, Any]) -> None:
    watched, before = names["watched"], names["watched"].world.digest()
    assert len(watched.agents.shuffle()) == 150
    assert watched.world.digest() == before


def test_a_batch_varies_the_seed(names: dict[str, Any]) -> None:
    found = eval(names["said"][-1])  # noqa: S307 - a dictionary that the page printed
    assert found.keys() == {1, 2}
    assert all(0 <= count <= 150 for count in found.values())


# SolaraViz


@pytest.fixture(name="viz", scope="module")
def with_solara(names: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with warnings.catch_warnings():  # of packages that we only show how to use
        warnings.simplefilter("ignore")
        pytest.importorskip("solara", reason="solara is not installed (group viz)")
        exec(compile(BLOCKS[-1], "docs/mesa.md, last block", "exec"), names)  # noqa: S102 - as above
        yield names


def texts(widget: Any) -> list[str]:
    """Return all words that a widget shows, in order."""
    if isinstance(widget, str):
        return [widget]
    children = [*(getattr(widget, "children", None) or [])]
    slots = [slot["children"] for slot in getattr(widget, "v_slots", None) or []]
    for slot in slots:
        children += slot if isinstance(slot, list) else [slot]
    return [word for child in children for word in texts(child)]


def find(widget: Any, kind: str) -> list[Any]:
    """Return all widgets of a kind within a widget, in order."""
    if isinstance(widget, str):
        return []
    own = [widget] if type(widget).__name__ == kind else []
    return [
        *own,
        *(each for child in getattr(widget, "children", ()) for each in find(child, kind)),
    ]


@pytest.mark.filterwarnings("ignore")
def test_the_page_of_the_browser_is_made_without_an_error(viz: dict[str, Any]) -> None:
    import solara  # noqa: PLC0415 - optional

    box, context = solara.render(viz["page"], handle_error=False)
    assert find(box, "Tab")
    assert "raised exception" not in " ".join(texts(box))
    context.close()


@pytest.mark.filterwarnings("ignore")
def test_the_step_button_lets_a_tick_pass_and_everything_is_drawn_again(
    viz: dict[str, Any],
) -> None:
    import solara  # noqa: PLC0415 - optional
    from mesa.visualization.solara_viz import ModelController  # noqa: PLC0415 - optional

    model = solara.reactive(viz["Watched"]())
    drawn = {name: solara.render(viz[name](model.value)) for name in ("Headline", "Follows")}
    settings = {"play_interval": 100, "render_interval": 1, "use_threads": False}
    controls = ModelController(
        model, **{name: solara.reactive(value) for name, value in settings.items()}
    )
    box, context = solara.render(controls, handle_error=False)
    buttons = {texts(button)[-1]: button for button in find(box, "Btn")}
    assert texts(drawn["Headline"][0])[0].startswith("Tick 0: ")
    (picture,) = find(drawn["Follows"][0], "Image")
    before = bytes(picture.value)
    buttons["Step"].click()
    assert model.value.tick == 1
    assert texts(drawn["Headline"][0])[0].startswith("Tick 1: ")
    (after,) = find(drawn["Follows"][0], "Image")
    assert bytes(after.value) != before
    buttons["Reset"].click()
    assert model.value.tick == 0
    for each in (context, *(context for _, context in drawn.values())):
        each.close()


@pytest.mark.filterwarnings("ignore")
def test_a_society_at_its_horizon_says_so_to_mesa() -> None:
    loaded = read_scenario(
        ROOT / "scenarios" / "protein_bar.yaml",
        settings=["population.size=10", "horizon=2", "stimuli=[]"],
    )
    society = Society(loaded)
    society.run_model()
    assert (society.tick, society.running, society.steps) == (2, False, 2)
