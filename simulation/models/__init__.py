"""Language models, reached by name; each loads its SDK only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.errors import UsageError

if TYPE_CHECKING:
    from simulation.models.base import Model
    from simulation.models.rule import RuleModel

_NOT_YET = ("anthropic", "openai")


def load(provider: str, *, rule: RuleModel) -> Model:
    """Return the model of a provider.

    provider: as in `models.cheap.provider` of a scenario.  rule: the embedded model of the run.

    Raises:
        UsageError: the provider is unknown, or not one that this version can run.
    """
    if provider == "rule":
        return rule
    if provider in _NOT_YET:
        raise UsageError(
            f"{provider_problem(provider)}; set models.cheap.provider and "
            "models.frontier.provider to rule"
        )
    known = ", ".join(("rule", *_NOT_YET))
    raise UsageError(f'"{provider}" is not a model provider; providers are {known}')


def provider_problem(provider: str) -> str:
    """Return why this version cannot run a provider of a scenario, "" when it can."""
    if provider not in _NOT_YET:
        return ""
    return (
        f'the provider "{provider}" cannot be used yet: this version runs the embedded `rule` '
        "model only; language models come with a later version"
    )
