"""The words about the language models of a run: what they were asked, answered and paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.cli.text import explained, many, paragraph, percent, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.analysis.spending import Asked, BudgetUse, Spending

_LISTED = 5  # personas in quarantine that are named
_UNANSWERED = ("probe", "survey", "interview")  # purposes that nothing stands in for


def told(spent: Spending | None) -> dict[str, Any]:
    """Return what JSON says about language models; nothing where there were none."""
    return {} if spent is None else {"language_models": spent.to_dict()}


def spent_on(spent: Spending) -> Iterator[str]:
    """Yield the lines of the block."""
    share = spent.cached_tokens / spent.input_tokens if spent.input_tokens else 0.0
    cached = f" ({percent(share)} of them cached)" if spent.cached_tokens else ""
    tokens = f"{spent.input_tokens:,} tokens in{cached}, {spent.output_tokens:,} out"
    yield "Language models"
    yield paragraph(
        f"{many(spent.calls, 'call')}, {tokens}, {money(spent.cost_usd)} USD", indent="  "
    )
    yield explained([(plain(each.purpose), _asked(each)) for each in spent.asked])
    for line in (*_money(spent), *_people(spent), *spent.notes):
        yield paragraph(plain(line), indent="  ", hanging="    ")


def money(usd: float) -> str:
    """Return an amount in US dollars: two decimals, or more where two would hide it.

    >>> money(1.239), money(0.0042), money(0.0)
    ('1.24', '0.0042', '0.00')
    """
    return f"{usd:,.2f}" if usd >= 0.1 or usd == 0 else f"{usd:.2g}"  # noqa: PLR2004 - ten cents


def used(each: BudgetUse) -> str:
    """Return what is used of a limit: `0.41 of 2.00 USD`."""
    if each.name == "usd":
        return f"{money(each.used)} of {each.limit:,.2f} USD"
    return f"{each.used:,} of {each.limit:,} {each.name}"


def _asked(each: Asked) -> str:
    if not each.questions:
        return f"{plain(each.model)}: {many(each.calls, 'call')}, none answered before the end"
    lost = "unanswered" if each.purpose in _UNANSWERED else "fell back"
    shares = ((each.valid, "valid"), (each.repaired, "repaired"), (each.failed, lost))
    told = [f"{percent(count / each.questions)} {word}" for count, word in shares if count]
    return (
        f"{plain(each.model)}: {each.questions:,} asked, {', '.join(told)}; "
        f"{money(each.cost_usd)} USD"
    )


def _money(spent: Spending) -> Iterator[str]:
    if spent.replayed:
        yield (
            f"{many(spent.replayed, 'call')} an earlier run had answered and paid "
            f"({money(spent.replayed_usd)} USD): replayed, and not paid again"
        )
    if spent.budget:
        yield f"budget: {', '.join(used(each) for each in spent.budget)}"
    if spent.unconfirmed_usd:
        yield (
            f"up to {money(spent.unconfirmed_usd)} USD more may have been billed for tries of "
            "which no account came"
        )
    if spent.unpriced:
        yield f"the cost of {many(spent.unpriced, 'call')} is not known and not counted"


def _people(spent: Spending) -> Iterator[str]:
    if not spent.quarantined:
        return
    named = [f"{each.persona_id} (tick {each.tick})" for each in spent.quarantined[:_LISTED]]
    more = "" if len(spent.quarantined) <= _LISTED else ", …"
    yield (
        f"{many(len(spent.quarantined), 'persona')} left to the rule model, as turns kept "
        f"failing: {', '.join(named)}{more}"
    )
