"""The files a scenario names, and settings from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulation.errors import ScenarioError
from simulation.scenario import Access, Loaded, load_text, read_scenario

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
name: bar
horizon: 12
brief:
  brand: Bar
  proposition: A bar.
  claims:
    - {id: C1, text: It is good.}
    - {id: C2, text: It is cheap.}
ontology: consumer_products
population: {size: 60}
"""
PEOPLE = BASE.replace("size: 60", "source: people.csv")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a scenario's folder; the current directory is another one, `here`."""
    folder = tmp_path / "home"
    (tmp_path / "here").mkdir()
    (folder / "data").mkdir(parents=True)
    (folder / "people.csv").write_text("id\n1\n", encoding="utf-8")
    (tmp_path / "secret.csv").write_text("id\n1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    return folder


def read(home: Path, text: str, *sets: str, access: Access | None = None) -> Loaded:
    file = home / "a.yaml"
    file.write_text(text, encoding="utf-8")
    return read_scenario(file, settings=sets, access=access or Access())


def refused(home: Path, text: str, *sets: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(home, text, *sets)
    assert len(caught.value.problems) == 1, str(caught.value)
    return str(caught.value.problems[0])


def test_a_file_beside_the_scenario_is_found(home: Path) -> None:
    assert read(home, PEOPLE).files == {"population.source": home.resolve() / "people.csv"}


def test_the_folder_is_that_of_the_path_given_even_for_a_link(home: Path) -> None:
    (home / "real").mkdir()
    real = home / "real" / "b.yaml"
    real.write_text(PEOPLE, encoding="utf-8")
    link = home / "link.yaml"
    link.symlink_to(real)
    assert read_scenario(link).files["population.source"].parent == home.resolve()


def test_a_missing_file_suggests_the_nearest_name(home: Path) -> None:
    said = refused(home, PEOPLE.replace("people", "poeple"))
    assert said.startswith('line 10  population.source  there is no file "poeple.csv" in')
    assert said.endswith('did you mean "people.csv"?')


@pytest.mark.parametrize(
    "name", ["../secret.csv", "data/../../secret.csv", "/etc/passwd", "link.csv", "../nothing"]
)
def test_a_path_out_of_the_folder_is_refused(home: Path, name: str) -> None:
    (home / "link.csv").symlink_to(home.parent / "secret.csv")
    said = refused(home, PEOPLE.replace("people.csv", name))
    assert "lies outside the scenario's folder" in said
    assert "--allow-path" in said
    assert "--set" in said


def test_a_path_that_the_command_line_allows_is_read(home: Path) -> None:
    text = PEOPLE.replace("people.csv", "../secret.csv")
    secret = home.parent / "secret.csv"
    for allowed in (secret, home.parent):
        loaded = read(home, text, access=Access(allow_paths=(allowed,)))
        assert loaded.files["population.source"] == secret.resolve()


def test_a_link_within_the_folder_is_followed(home: Path) -> None:
    (home / "link.csv").symlink_to(home / "people.csv")
    loaded = read(home, PEOPLE.replace("people.csv", "link.csv"))
    assert loaded.files["population.source"].name == "people.csv"


@pytest.mark.parametrize("name", ['"a\\0b"', "data", "loop.csv", "x" * 5000])
def test_what_is_no_file_is_refused(home: Path, name: str) -> None:
    (home / "loop.csv").symlink_to(home / "loop.csv")
    assert "population.source" in refused(home, PEOPLE.replace("people.csv", name))


def test_a_setting_names_a_file_from_the_current_directory_without_permission(home: Path) -> None:
    secret = home.parent / "secret.csv"
    for name in ("../secret.csv", str(secret)):
        loaded = read(home, BASE, f"population.source={name}")
        assert loaded.files["population.source"] == secret.resolve()
    whole = read(home, BASE, "population={source: ../secret.csv}")
    assert whole.files["population.source"] == secret.resolve()


def test_a_setting_falls_back_to_the_scenarios_folder(home: Path) -> None:
    loaded = read(home, BASE, "population.source=people.csv")
    assert loaded.files["population.source"] == home.resolve() / "people.csv"
    said = refused(home, BASE, "population.source=peeple.csv")
    assert said.startswith('--set  population.source  there is no file "peeple.csv" in')
    assert said.endswith('did you mean "people.csv"?')


def test_a_setting_may_start_at_the_home_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    loaded = read(home, BASE, "population.source=~/people.csv")
    assert loaded.files["population.source"].name == "people.csv"


def test_only_a_graph_of_edges_has_a_file(home: Path) -> None:
    (home / "e.txt").write_text("1 2\n", encoding="utf-8")
    edges = BASE + "graph: {kind: edges, file: e.txt}\n"
    assert set(read(home, edges).files) == {"graph.file"}
    assert not read(home, edges, "graph.kind=none").files


def test_a_bare_ontology_name_is_looked_for_beside_the_scenario_first(home: Path) -> None:
    assert not read(home, BASE).files
    (home / "ontology").mkdir()
    below = home / "ontology" / "consumer_products.yaml"
    below.write_text("x", encoding="utf-8")
    assert read(home, BASE).files["ontology"] == below.resolve()
    beside = home / "consumer_products.yaml"
    beside.write_text("x", encoding="utf-8")
    assert read(home, BASE).files["ontology"] == beside.resolve()


def test_an_ontology_with_a_suffix_or_a_slash_is_a_file(home: Path) -> None:
    for name in ("mine.yaml", "sub/mine"):
        text = BASE.replace("ontology: consumer_products", f"ontology: {name}")
        assert "ontology  there is no file" in refused(home, text)


def test_an_encoder_model_is_a_file_only_where_it_names_one(home: Path) -> None:
    model = home / "model"
    model.mkdir()
    names = {"all-MiniLM-L6-v2": None, "org/name": None, "model": model, "./model": model}
    for name, path in names.items():
        text = f"{BASE}encoder: {{name: sentence_transformers, model: {name}}}\n"
        assert read(home, text).files.get("encoder.model") == (path and path.resolve())
    remote = read(home, BASE + "encoder: {name: openai, model: model}\n")
    assert "encoder.model" not in remote.files
    assert "there is no file" in refused(home, BASE + "encoder: {model: nix}\n")
    for name in ("/etc", "x/../../here", "~/x"):
        text = f"{BASE}encoder: {{name: sentence_transformers, model: {name}}}\n"
        assert "encoder.model" in refused(home, text)


def test_a_model_folder_whose_links_lead_out_is_refused(home: Path) -> None:
    model = home / "model"
    model.mkdir()
    (model / "weights").symlink_to(home / "people.csv")
    text = BASE + "encoder: {model: model}\n"
    assert read(home, text).files["encoder.model"] == model.resolve()
    (model / "config").symlink_to(home.parent / "secret.csv")
    assert '"model/config" lies outside' in refused(home, text)
    assert read(home, BASE, f"encoder.model={model}").files["encoder.model"] == model.resolve()


def test_a_text_without_a_folder_names_no_files(home: Path) -> None:
    (home.parent / "here" / "people.csv").write_text("id\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="a scenario without a folder names no files"):
        load_text(PEOPLE)
    loaded = load_text(PEOPLE, access=Access(allow_paths=(home.parent,)))
    assert loaded.files["population.source"].parent.name == "here"
    loaded = load_text(PEOPLE, folder=home)
    assert loaded.files["population.source"].parent == home.resolve()


def test_settings_reach_lists_and_make_missing_mappings() -> None:
    text = BASE + "stimuli:\n  - {tick: 1, text: x}\nmemory:\n"
    for path in ("stimuli[0].tick", "stimuli.0.tick"):
        loaded = load_text(text, settings=[f"{path}=[3, 4]", "recall.k.cheap=5", "memory.cap=7"])
        assert loaded.scenario.stimuli[0].tick == (3, 4)
        assert loaded.scenario.recall.k.cheap == 5
        assert loaded.scenario.memory.cap == 7
        assert loaded.settings == (f"{path}=[3, 4]", "recall.k.cheap=5", "memory.cap=7")


def test_a_later_setting_wins_and_a_setting_mends_the_file() -> None:
    loaded = load_text(BASE.replace("12", "'x'"), settings=["horizon=3", "horizon=4"])
    assert loaded.scenario.horizon == 4


def test_a_key_with_dots_can_be_set_in_brackets() -> None:
    text = BASE.replace("size: 60", "source: sample, size: 1")
    with pytest.raises(ScenarioError) as caught:
        load_text(text, settings=['population.columns["a.b"]=1'])
    assert '--set  population.columns["a.b"]  must be text, not 1' in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("horizon", '--set  "horizon" is not path=value'),
        ("=3", '--set  "=3" is not path=value'),
        ("a..b=3", "is not path=value"),
        ("population.sise=3", '--set  population.sise  unknown key; did you mean "size"?'),
        ("population.size=x", "--set  population.size  must be a whole number between"),
        ("population.size='3'", "remove the quotes"),
        ("brief.brand=no", 'YAML reads no as false; put it in quotes: "no"'),
        ("brief.brand=a: b: c", "this is not YAML"),
        ("brief.brand=!!python/none x", "is not allowed"),
        ("seed=12:30", "--set  seed  some YAML readers take 12:30"),
        ("recall.k={cheap: 1, cheap: 2}", "--set  recall.k.cheap  appears twice"),
        ("horizon.x=3", "horizon is 12 and has no keys; set it as a whole"),
        (
            "brief.claims.2.text=x",
            'brief.claims[2].text  "brief.claims.2.text=x": brief.claims has 2 items: 0 to 1',
        ),
        ("brief.claims.x=3", "brief.claims has 2 items: 0 to 1"),
        ("brief.claims[1].text=", "--set  brief.claims[1].text  must be text, not empty"),
    ],
)
def test_a_bad_setting_is_named(setting: str, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_text(BASE, settings=[setting])
    assert said in str(caught.value)
    assert "--set" in str(caught.value)
    assert all(problem.line is None for problem in caught.value.problems)


def test_where_a_file_lies_does_not_change_the_digest(home: Path) -> None:
    here = read(home, BASE, "population.source=people.csv").sha256
    assert read(home, BASE, f"population.source={home / 'people.csv'}").sha256 == here
    assert read(home, BASE, f"population={{source: {home / 'people.csv'}}}").sha256 != here
    assert read(home, BASE, "population.source=../secret.csv").sha256 != here


def test_a_setting_that_names_a_missing_file_tells_each_folder_once_as_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = BASE.replace("  size: 60\n", "  size: 60\n  source: sample\n")
    monkeypatch.chdir(home)
    setting = "population.source=data/../none.csv"
    with pytest.raises(ScenarioError) as caught:
        load_text(text, folder=home, settings=[setting])
    (problem,) = caught.value.problems
    assert f'there is no file "none.csv" in "{home}"' in problem.message
    assert str(problem).count(str(home)) == 1


@pytest.mark.parametrize(
    ("claims", "said"),
    [("[]", "no items; set it as a whole"), ("[{id: A, text: t}]", "1 item: 0")],
)
def test_a_setting_beyond_a_short_list_says_what_is_there(claims: str, said: str) -> None:
    text = BASE.split("brief:", 1)[0]
    scenario = f"{text}brief: {{brand: B, proposition: P, claims: {claims}}}\n"
    with pytest.raises(ScenarioError) as caught:
        load_text(scenario, settings=["brief.claims.9.text=x"])
    found = [str(p) for p in caught.value.problems if p.where == "brief.claims[9].text"]
    assert len(found) == 1
    assert said in found[0]
