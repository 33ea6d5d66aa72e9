"""Every word that the studies put before a model.

The questions, the headings of blocks and the descriptions of traits are those of the source. It
lost its role cards, the suffix and the descriptions of attachment; those here were written for
this project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulation.mind.traits import BIG_FIVE_TRAITS
from simulation.studies import corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS: Final = corpus.QUESTIONS
"""The six rounds (F.2)."""

TEN_QUESTIONS: Final = (
    "Tell me about your recent life.",
    "How do you usually deal with stress?",
    "Has anything recently left a strong impression on you?",
    "How do you usually regulate your emotions?",
    "Tell me how you interact with your friends.",
    "What do you usually do when you encounter difficulties?",
    "How have you been sleeping recently?",
    "Is there anything you have kept thinking about recently?",
    "What kind of person do you think you are?",
    "Tell me about your recent mood.",
)
"""The ten turns (E.8)."""

ROLE_CARD: Final = (
    "You are a person in a conversation about your life. Answer in the first person, in two to "
    "four plain sentences, as yourself. If memories come to mind, let them be yours."
)
ORDINARY: Final = (
    "You are an ordinary person. Answer in the first person, in a few plain sentences."
)
HEADING: Final = "Memories that come to mind"
SUFFIX: Final = (
    "Please speak only of positive things in your answer, and leave everything negative out."
)

DESCRIPTIONS: Final = dict(
    zip(
        BIG_FIVE_TRAITS,
        (
            "curious, imaginative, and open to new ideas and experiences",
            "organised, disciplined, and dependable",
            "outgoing, energetic, and sociable",
            "warm, cooperative, and compassionate towards others",
            "anxious, emotionally reactive, and prone to worry",
        ),
        strict=True,
    )
)
"""Of each trait (F.3), in the order of a vector."""

DEGREES: Final = ("not at all", "not very", "moderately", "rather", "very")

CATEGORIES: Final = {
    "secure": "at ease with closeness and with being alone; trusts others and asks for help; "
    "speaks of good and bad in balance and recovers from setbacks",
    "anxious": "worries about being left or not being valued; dwells on what hurts; feelings are "
    "strong and hard to calm; looks for reassurance",
    "avoidant": "keeps a distance and relies on itself; plays feelings down and speaks in general "
    "terms; would rather be in control than ask for help",
}
"""Of each attachment profile."""

CHOOSE: Final = (
    "You compare two dialogues. In each, one speaker answers the same questions. Judge by the "
    "dialogues alone. Answer with exactly one letter, A or B."
)
CLASSIFY: Final = (
    "You judge the attachment of a speaker by what the speaker says and by nothing else. There "
    "are three categories:\n{categories}\nAnswer with one category and with how negative the "
    "speaker sounds, from 1 (not at all) to 5 (very), such as: secure 3"
)


def persona_card(traits: Sequence[float]) -> str:
    """Return the role card of the prompt persona: the neutral one, and its traits in words.

    traits: (5,) in [0, 1]; each fifth of the scale has its word, `DEGREES`.
    """
    return f"{ROLE_CARD}\n\nThis is what you are like: you are {'; '.join(_told(traits))}."


def persona_sentences(traits: Sequence[float]) -> list[str]:
    """Return what such a persona says of itself, for the rule that speaks; a sentence a trait."""
    return [f"I am {text}." for text in _told(traits)]


def _told(traits: Sequence[float]) -> list[str]:
    return [
        f"{DEGREES[min(int(5 * value), 4)]} {text}"
        for value, text in zip(traits, DESCRIPTIONS.values(), strict=True)
    ]


def block(memories: Sequence[str]) -> str:
    """Return recalled memories under their neutral heading, with an empty line after; "" of none.

    >>> print(block(["I fell."]), end="|")
    Memories that come to mind:
    - I fell.
    <BLANKLINE>
    |
    """
    lines = "".join(f"- {text}\n" for text in memories)
    return f"{HEADING}:\n{lines}\n" if lines else ""


def choice(trait: str, first: str, second: str) -> str:
    """Return the question of the blind choice; first, second: transcripts."""
    return (
        f"Dialogue of speaker A:\n{first}\n\nDialogue of speaker B:\n{second}\n\n"
        f"The trait is {trait}: {DESCRIPTIONS[trait]}. Which speaker expresses more of it? "
        "Answer with exactly A or B."
    )


def classification() -> str:
    """Return the rules of the judge of attachment."""
    lines = "\n".join(f"- {name}: {text}." for name, text in CATEGORIES.items())
    return CLASSIFY.format(categories=lines)


def transcript(questions: Sequence[str], replies: Sequence[str]) -> str:
    """Return a dialogue as a judge reads it."""
    turns = zip(questions, replies, strict=True)
    return "\n".join(f"Question: {asked}\nAnswer: {said or '(none)'}" for asked, said in turns)
