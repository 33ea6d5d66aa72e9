"""The words of the page, for somebody who has read nothing else of the simulation."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "Tick": (
        "One round of the run. Everyone active sees the world as it was at its start, then "
        "changes. It is no set time: a day, or whatever the scenario means by it."
    ),
    "Persona": "A simulated person, with attributes, beliefs and memories.",
    "Turn": "What one persona does in a tick: see, remember, and choose an action.",
    "Belief": (
        "A number from 0 (not at all) to 1 (wholly) that a persona holds: one for each "
        "dimension and one for each claim. ½ is undecided."
    ),
    "Dimension": (
        "A belief about the proposition as such. Those usual are value (it is worth it), fit "
        "(it is for people like me) and trust (whoever says it can be believed)."
    ),
    "Claim": "A statement that can be believed or doubted, C1, C2, …",
    "Credence": "How far a persona believes a claim: the belief in it.",
    "Won, lost": (
        "A claim is won when a credence crosses one half upwards, lost when it crosses "
        "downwards. Whoever leaves exactly ½ for the first time crosses nothing."
    ),
    "Above ½, at ½": "Shares of personas whose belief is above one half, or exactly there.",
    "Event": "Something from outside the population, such as an ad or a piece of news.",
    "Posts set off": "How many posts repeat, quote or answer a post, and those posts in turn.",
    "Belief moved": (
        "The sizes of all changes of all beliefs of all personas for which a post was the "
        "cause, added up; so it can be far above 1."
    ),
    "Reach": "Who was shown a post, or anything that came of it.",
    "Community": (
        "A group of personas with more ties inside than outside, found by the Louvain method."
    ),
    "Modularity": (
        "How clearly the graph falls into communities: 0 no more than by chance, at most 1."
    ),
    "Memory": (
        "What a persona keeps of a turn, in its own words; or, by reflection, something general."
    ),
    "Importance": "How much a turn matters for memory, from 0 to 1.",
    "Recall path": (
        "How a memory was found: product, by freshness, importance and relevance together; "
        "passive or redirect, it came unasked, by a feeling; active or semantic, by likeness "
        "to what was looked for."
    ),
    "Gate": (
        "What decides whether a memory that comes unasked takes over; it depends on the "
        "feeling and on the personality."
    ),
    "Reflection": (
        "A pause in which a persona revises beliefs and writes general memories: by cadence, "
        "after a number of turns, or after a sharp move of a belief."
    ),
    "Attitude, entropy": (
        "A settled feeling about one side of one thing. Its entropy says how torn it is "
        "between good, bad and neutral: 0 bits is certain, 1.58 evenly torn."
    ),
    "Drift": "That a persona, when asked, contradicts its own attributes.",
    "Seed": (
        "The number that all chance of a run comes from. Runs that differ in it alone show "
        "what chance does."
    ),
    "95 % interval": (
        "Where the true mean over seeds lies, by a method that is right in 95 of 100 cases."
    ),
    "Fork": (
        "A run that shares the history of another up to a tick and goes on with something changed."
    ),
    "Digest": "A fingerprint of the whole state after a tick: equal digests, equal states.",
}
"""Meaning by word, in the order in which a reader meets them."""
