"""References and combinations: what the types of a scenario cannot say."""

from __future__ import annotations

import pytest

from simulation.errors import ScenarioError
from simulation.scenario import Access, load_text

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
FREE = BASE.replace("population: {size: 60}\n", "")


def problems(text: str, *, sets: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the messages of each key path with a problem."""
    with pytest.raises(ScenarioError) as caught:
        load_text(text, settings=sets)
    found: dict[str, str] = {}
    for p in caught.value.problems:
        found[p.where] = f"{found[p.where]} / {p.message}" if p.where in found else p.message
    return found


@pytest.mark.parametrize(
    ("lines", "where", "message"),
    [
        ("stimuli: [{tick: 13, text: x}]", "stimuli[0].tick", "and the horizon (12), not 13"),
        ("stimuli: [{tick: [1, 13], text: x}]", "stimuli[0].tick[1]", "not 13"),
        ("stimuli: [{tick: [1, 1], text: x}]", "stimuli[0].tick[1]", "the tick 1 appears twice"),
        ("stimuli: [{tick: [], text: x}]", "stimuli[0].tick", "a list of at least one"),
        ("stimuli: [{tick: 0, text: x}]", "stimuli[0].tick", "of at least 1, not 0"),
        ("stimuli: [{tick: 1, text: x, claim: c1}]", "stimuli[0].claim", 'did you mean "C1"?'),
        (
            "stimuli: [{id: a, tick: 1, text: x}, {id: a, tick: 2, text: x}]",
            "stimuli[1].id",
            "taken by stimuli[0]",
        ),
        (
            "stimuli: [{id: s2, tick: 1, text: x}, {tick: 2, text: x}]",
            "stimuli[1].id",
            "taken by stimuli[0]",
        ),
        ("graph: {kind: edges}", "graph.file", "is required by kind edges"),
        ("graph: {kind: homophily}", "graph.by", "is required by kind homophily"),
        ("graph: {kind: stochastic_block, by: []}", "graph.by", "is required by kind"),
        ("graph: {degree: 60}", "graph.degree", "must be less than population.size (60)"),
        ("actions: [like, repost]", "actions", "one of ignore, post, complain"),
        ("actions: [buy, reject]", "actions", "buy and reject are final"),
        ("final_actions: false\nactions: [like]", "actions", "ignore, post, buy, reject"),
        ("actions: [post, post]", "actions[1]", 'the action "post" appears twice'),
        ("models: {cheap: {provider: openai}}", "models.cheap.model", "by the provider openai"),
        ("models: {frontier: {provider: anthropic}}", "models.frontier.model", "anthropic"),
        ("encoder: {name: openai}", "encoder.model", "is required by the encoder openai"),
    ],
)
def test_a_combination_that_cannot_work_is_refused(lines: str, where: str, message: str) -> None:
    assert message in problems(f"{BASE}{lines}\n")[where]


@pytest.mark.parametrize(
    ("population", "where", "message"),
    [
        ("{}", "size", "is required when the population is sampled"),
        ("{size: 3, id_column: x}", "id_column", "needs a file in population.source"),
        ("{size: 3, columns: {a: b}}", "columns", "needs a file in population.source"),
        ("{size: 3, activity: {column: x}}", "activity.column", "a column needs a file"),
        ("{size: 3, tier: {column: x}}", "tier.column", "a column needs a file"),
        ("{size: 3, beliefs: {C1: {column: x}}}", "beliefs.C1.column", "a column needs a file"),
        ("{size: 3, beliefs: {C3: 0.5}}", "beliefs.C3", "beliefs are value, fit, trust, C1, C2"),
        ("{size: 3, beliefs: {trst: 0.5}}", "beliefs.trst", 'did you mean "trust"?'),
        (
            "{size: 3, beliefs: {C1: {distribution: uniform, low: 0.7, high: 0.2}}}",
            "beliefs.C1.low",
            "must not be above high (0.2)",
        ),
        (
            "{size: 3, beliefs: {C1: {distribution: choice, values: [0, 1], weights: [1]}}}",
            "beliefs.C1.weights",
            "must be one per value (2), not 1",
        ),
        (
            "{size: 3, beliefs: {C1: {distribution: choice, values: [0, 1], weights: [0, 0]}}}",
            "beliefs.C1.weights",
            "must not all be 0",
        ),
    ],
)
def test_a_population_that_cannot_be_made_is_refused(
    population: str, where: str, message: str
) -> None:
    found = problems(f"{FREE}population: {population}\n")
    assert message in found[f"population.{where}"]


@pytest.mark.parametrize(
    ("claims", "where", "message"),
    [
        ("[{id: A, text: x}, {id: A, text: y}]", "claims[1].id", 'the claim "A" appears twice'),
        ("[{id: trust, text: x}]", "claims[0].id", "is also a dimension"),
        ("[{id: A, text: x, weights: {fitt: 1}}]", "claims[0].weights.fitt", 'mean "fit"?'),
        ("[{id: A-1, text: x}]", "claims[0].id", "must be a short name"),
    ],
)
def test_a_brief_with_names_that_clash_or_dangle_is_refused(
    claims: str, where: str, message: str
) -> None:
    text = f"""\
name: x
horizon: 3
brief: {{brand: b, proposition: p, claims: {claims}}}
ontology: civic_life
population: {{size: 1}}
"""
    assert message in problems(text)[f"brief.{where}"]


def test_dimensions_must_differ() -> None:
    found = problems(BASE.replace("claims:", "dimensions: [a, a]\n  claims:"))
    assert found == {"brief.dimensions[1]": 'the dimension "a" appears twice'}


def test_a_claim_that_is_asked_for_where_none_exist_says_so() -> None:
    text = BASE[: BASE.index("  claims")] + BASE[BASE.index("ontology") :]
    found = problems(text + "stimuli: [{tick: 1, text: x, claim: C1}]\n")
    assert found["stimuli[0].claim"] == '"C1" is not a claim of the brief; there are no claims'


def test_a_broken_part_hides_no_dangling_reference_elsewhere() -> None:
    text = BASE.replace("brand: Bar", "brnd: Bar").replace("horizon: 12", "horizon: x")
    found = problems(text + "stimuli:\n - {tick: x, text: y, claim: C7}\n - 3\n")
    assert set(found) == {
        "horizon",
        "brief.brnd",
        "brief.brand",
        "stimuli[0].tick",
        "stimuli[0].claim",
        "stimuli[1]",
    }


def test_a_broken_list_of_claims_makes_no_reference_dangle() -> None:
    text = BASE[: BASE.index("  claims")] + "  claims: 3\n" + BASE[BASE.index("ontology") :]
    found = problems(text + "stimuli: [{tick: 1, text: x, claim: C1}]\n")
    assert list(found) == ["brief.claims"]


def test_a_reference_to_a_claim_with_a_wrong_id_is_not_reported_twice() -> None:
    text = BASE.replace("id: C1", "id: C-1")
    found = problems(text + "stimuli: [{tick: 1, text: x, claim: C-1}]\n")
    assert list(found) == ["brief.claims[0].id"]


@pytest.mark.parametrize(
    "lines",
    [
        "graph: {degree: 0}",
        "graph: {kind: none, degree: 100}",
        "graph: {kind: homophily, by: [age]}",
        "stimuli: []",
        "final_actions: false\nactions: [buy, like]",
        "actions: [ignore]",
        "stimuli: [{id: a, tick: 12, text: x, claim: C2}, {tick: [1, 2], text: x, claim: null}]",
        "probes: {share: 0}",
        "models: {cheap: {provider: openai, model: m, base_url: 'http://127.0.0.1:8000/v1'}}",
    ],
)
def test_what_can_work_is_accepted(lines: str) -> None:
    assert load_text(f"{BASE}{lines}\n").scenario.name == "bar"


@pytest.mark.parametrize("size", [0, 1])
def test_nobody_and_one_person_are_populations(size: int) -> None:
    text = BASE.replace("size: 60", f"size: {size}") + "graph: {degree: 4}\n"
    assert load_text(text).scenario.population.size == size


def _with_url(url: str, provider: str = "openai") -> str:
    return f"{BASE}models: {{cheap: {{provider: {provider}, model: m, base_url: '{url}'}}}}\n"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://evil.example/v1", "add --allow-host evil.example"),
        ("https://api.openai.com.evil.example", "add --allow-host"),
        ("https://api.anthropic.com", "neither this machine nor the provider's own"),
        ("http://127.0.0.1.evil.example", "add --allow-host"),
        ("http://localhost.evil.example", "add --allow-host"),
        ("http://2130706433/", "add --allow-host"),
        ("http://[::ffff:10.0.0.1]/", "add --allow-host"),
        ("http://10.0.0.1", "add --allow-host"),
        ("http://localhost@evil.example/", "must hold no user name or password"),
        ("http://user:pw@localhost/", "must hold no user name or password"),
        ("http://127.0.0.1\\@evil.example/", "is not an address"),
        ("http://loc alhost", "is not an address"),
        ("http://[::1", "is not an address"),
        ("http://localhost:port", "is not an address"),
        ("http://", "is not an address"),
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("localhost:8000", "must begin with http:// or https://"),
        ("http://api.openai.com/v1", "must begin with https://"),
        ("http://localhost/?key=1", 'must hold no "?" or "#"'),
        ("http://localhost/#x", 'must hold no "?" or "#"'),
        ("http://\uff4cocalhost.example", "is not an address"),
    ],
)
def test_a_strange_server_is_refused(url: str, message: str) -> None:
    assert message in problems(_with_url(url))["models.cheap.base_url"]


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://API.OpenAI.com./v1", "openai"),
        ("https://api.anthropic.com", "anthropic"),
        ("http://localhost:8000/v1", "anthropic"),
        ("http://127.9.9.9", "openai"),
        ("http://[::1]:11434/v1", "openai"),
    ],
)
def test_the_providers_own_host_and_this_machine_are_allowed(url: str, provider: str) -> None:
    assert load_text(_with_url(url, provider)).scenario.models.cheap.base_url == url


@pytest.mark.parametrize("allowed", ["vllm.example", "VLLM.example", "vllm.example:8000"])
def test_a_host_named_on_the_command_line_is_allowed(allowed: str) -> None:
    text = _with_url("http://vllm.example:8000/v1")
    load_text(text, access=Access(allow_hosts=(allowed,)))
    with pytest.raises(ScenarioError):
        load_text(text, access=Access(allow_hosts=("vllm.example:1",)))


def test_the_encoders_address_is_held_to_the_same_rules() -> None:
    found = problems(BASE + "encoder: {name: openai, model: m, base_url: 'http://a.example'}\n")
    assert "--allow-host a.example" in found["encoder.base_url"]


@pytest.mark.parametrize(
    ("base_url", "key_for", "given"),
    [
        (None, (), True),
        ("https://api.openai.com/v1", (), True),
        ("http://localhost:8080/v1", (), False),
        ("http://localhost:8080/v1", ("localhost",), True),
        ("http://localhost:8080/v1", ("localhost:9",), False),
        ("https://models.example.org/v1", (), False),
        ("https://models.example.org/v1", ("models.example.org",), True),
        ("https://api.openai.com.example.org/v1", (), False),
    ],
)
def test_a_key_goes_to_its_provider_and_to_hosts_named_for_it_only(
    base_url: str | None,
    key_for: tuple[str, ...],
    given: bool,  # noqa: FBT001  (a parametrised case)
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    loaded = load_text(BASE, access=Access(key_for=key_for))
    assert loaded.key(provider="openai", base_url=base_url) == ("sk-test" if given else None)


def test_an_unset_or_empty_key_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    loaded = load_text(BASE)
    assert loaded.key(provider="anthropic", base_url=None) is None
