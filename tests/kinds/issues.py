"""Small invented issues of four repositories for training."""

from __future__ import annotations

from benchmarks.kinds.examples import Example, example

_BUGS = (
    ("Crash when the {thing} is empty", "It fails with an error. Steps to reproduce: open the {thing}."),
    ("{thing} shows the wrong total", "Expected 3, but the {thing} is incorrect."),
    ("Exception after the update of {thing}", "Since version 2 the {thing} is broken and fails."),
)
_FEATURES = (
    ("Add support for {thing}", "It would be nice to have an option for the {thing}."),
    ("Allow to configure the {thing}", "Please add the ability to change the {thing}. It would be useful."),
    ("Feature request: {thing}", "I would love to see support for {thing}."),
)
_QUESTIONS = (
    ("How do I use the {thing}?", "I am wondering how to call the {thing}. Any help?"),
    ("Is there a way to read a {thing}?", "I do not understand how the {thing} works. Thanks."),
    ("Why is the {thing} like this?", "Can someone explain the {thing}? How to do it?"),
)
_THINGS = {
    "a/cars": ("wheel", "engine", "brake", "mirror"),
    "b/boats": ("sail", "anchor", "rudder", "hull"),
    "c/planes": ("wing", "flap", "cockpit", "rotor"),
    "d/trains": ("rail", "signal", "carriage", "coupling"),
}


def made_up() -> list[Example]:
    """Return an example for each combination of a sentence and a subject."""
    kinds = {"bug": _BUGS, "feature": _FEATURES, "question": _QUESTIONS}
    return [
        example(repository, kind, title.format(thing=thing), body.format(thing=thing))
        for repository, things in _THINGS.items()
        for thing in things
        for kind, sentences in kinds.items()
        for title, body in sentences
    ]
