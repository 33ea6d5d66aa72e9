"""The studies that `simulation study` knows: where each stands, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study: the module whose `run` makes it, and what is said of it.

    `run(folder, *, quick, data)` writes a new folder and returns what to print; one that may ask
    language models takes `models`, too.  about: one line.  minutes: of a full one.
    data: what --data is, "" where there is none.  needed: whether nothing can be done without.
    """

    module: str
    about: str
    minutes: str
    data: str = ""
    needed: bool = False
    models: bool = False


_HERE = "simulation.studies"

STUDIES = {
    "conditioning": Study(
        module=f"{_HERE}.conditioning",
        about="ask 150 personas one question, with and without their persona blocks",
        minutes="some seconds by rule",
        models=True,
    ),
    "attachment": Study(
        module=f"{_HERE}.attachment.heldout",
        about="tell four attachments apart by what they recall",
        minutes="about a minute",
    ),
    "attachment-factorial": Study(
        module=f"{_HERE}.attachment.factorial",
        about="the same with each of four parts of the memory on and off",
        minutes="about a minute",
    ),
    "attachment-trace": Study(
        module=f"{_HERE}.attachment_trace",
        about="the same by complete traces, beside searches without personality",
        minutes="about a minute",
    ),
    "attachment-direction": Study(
        module=f"{_HERE}.attachment_direction",
        about="which way anxiety and avoidance bend recall",
        minutes="about a minute",
    ),
    "attachment-response": Study(
        module=f"{_HERE}.dialogue.response",
        about="ten questions to three attachments, and a judge who guesses",
        minutes="as long as the models take",
        models=True,
    ),
    "big-five": Study(
        module=f"{_HERE}.big_five",
        about="traits and what is recalled, over sampled people",
        minutes="about three minutes",
        data="answers to the 50 IPIP items (CSV or TSV), scored and drawn from",
    ),
    "dialogue": Study(
        module=f"{_HERE}.dialogue.forced_choice",
        about="six-round dialogues, and a judge who chooses blindly",
        minutes="as long as the models take",
        models=True,
    ),
    "adversarial": Study(
        module=f"{_HERE}.dialogue.adversarial",
        about="what is left of a trait when only good things may be said",
        minutes="as long as the models take",
        data="word norms for valence, arousal and dominance (CSV)",
        models=True,
    ),
    "locomo": Study(
        module=f"{_HERE}.locomo",
        about="find the evidence of questions about long conversations",
        minutes="some minutes",
        data="LoCoMo's JSON file (github.com/snap-research/locomo)",
        needed=True,
    ),
    "locomo-answers": Study(
        module=f"{_HERE}.locomo.answers",
        about="answer those questions from what was found",
        minutes="as long as the models take",
        data="LoCoMo's JSON file (github.com/snap-research/locomo)",
        needed=True,
        models=True,
    ),
    "networks": Study(
        module=f"{_HERE}.networks",
        about="how people in networks revise beliefs, beside personas in the same networks",
        minutes="about five minutes",
        data="people's answers: misinformation.csv, clinicians.csv, or a folder of both",
        needed=True,
    ),
    "dam": Study(
        module=f"{_HERE}.dam",
        about="let attitudes settle in memory units",
        minutes="about three minutes",
        data="labelled sentences (.xml, or a folder of them) or your own observations (CSV or "
        "JSON Lines)",
    ),
    "dam-judge": Study(
        module=f"{_HERE}.dam_judge",
        about="answers from memory units and from all that was said, judged",
        minutes="two minutes by rule, else as long as the models take",
        models=True,
    ),
    "coser": Study(
        module=f"{_HERE}.coser",
        about="play characters of books, judged on four dimensions",
        minutes="as long as the models take",
        data="CoSER's test set, JSON (github.com/Neph0s/CoSER)",
        needed=True,
        models=True,
    ),
    "persmem-calibration": Study(
        module=f"{_HERE}.calibration",
        about="fit the maps from personality to gains",
        minutes="about two minutes",
    ),
    "extraction": Study(
        module=f"{_HERE}.extraction",
        about="find labelled aspects in sentences",
        minutes="about a minute",
        data="labelled sentences (.xml, or a folder of them)",
        needed=True,
    ),
    "blind-annotation": Study(
        module=f"{_HERE}.blind",
        about="export the corpora without labels, or score labels given blindly",
        minutes="a few seconds",
        data="a filled items.csv",
    ),
}
