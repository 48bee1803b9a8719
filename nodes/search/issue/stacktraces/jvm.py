"""Parse traces of Java, Kotlin, Scala and Groovy."""

import re

from nodes.search.issue.stacktraces.runs import Dialect, Heading, error_line
from nodes.search.types import Frame

_PLACE = re.compile(r"([\w$-][\w$.-]{0,200}\.(?:java|kt|kts|scala|groovy|clj|sc)|SourceFile)(?::(-?\d{1,7}))?$")
_INSIDE = re.compile(r"\$(?:_|anonfun\$)?([A-Za-z]\w{0,100}?)(?:_closure|\$)\d{1,4}\b|\$([a-z]\w{0,100})$")
"""The function in a class that the compiler makes of a coroutine, lambda or closure: ``Folds$foldAll$1``."""
_GENERAL = frozenset({"invokeSuspend", "invoke", "invokeStatic", "doInvoke", "doCall", "call", "apply", "accept"})
_NOWHERE = ("Native Method", "Unknown Source", "<generated>", "Unknown Source:0")
_OMITTED = re.compile(r"\.\.\. \d{1,6} (?:more|common frames)|\.\.\. \d{1,6} (?:frames )?(?:elided|truncated)")
_LEADS = (
    "Caused by: ",
    "Suppressed: ",
    "Wrapped by: ",
    "[CIRCULAR REFERENCE: ",
    "FATAL EXCEPTION: ",
    "Fatal Exception: ",
)
_CONSOLE = re.compile(r"Exception (?=[a-z][\w$]{0,80}\.[\w.$]{1,200}:?$)")
"""The heading of Google's console, below which the message is missing."""
_BARE = re.compile(r"(?:[a-z][\w$]{0,60}\.){2,12}[A-Z][\w$.]{0,200}\.[\w$<>-]{1,100} ?\(")
"""The beginning of a frame without ``at``, as in Crashlytics: ``com.acme.ui.Home.open (Home.kt:57)``."""
_CLASS = re.compile(r"[\w.$]{1,200}$")
_CLOJURE = re.compile(r"Execution error \((\w{1,80})\) at [\w./$!?*<>-]{1,200} \(([\w./-]{1,200}):(\d{1,7})\)")
_THREAD = re.compile(r'Exception in thread "[^"]{0,200}" ')


def _frame(bare: str) -> Frame | None:
    is_bare = bare.endswith(")") and bool(_BARE.match(bare))
    if not (is_bare or bare.startswith("at ")):
        return None
    head, paren, rest = bare.removeprefix("at ").partition("(")
    place, closed, _ = rest.partition(")")
    # A frame may begin with a class loader and a module: ``app//java.base/java.util…``.
    module, dot, function = head.rstrip().rpartition("/")[2].rpartition(".")
    if not (paren and closed and dot and module):
        return None
    module, function = _written(module, function)
    if place in _NOWHERE:
        return Frame(path="", function=function, module=module)
    match = _PLACE.match(place)
    if not match:
        return None
    # Native methods and obfuscators give numbers of zero or less, which name no line.
    line = int(match[2]) if match[2] else 0
    return Frame(path=match[1], line=line if line > 0 else None, function=function, module=module)


def _written(module: str, function: str) -> tuple[str, str]:
    """Return the class and function of the source, if the compiler made others of them."""
    inside = _INSIDE.search(module, max(0, len(module) - 200)) if function in _GENERAL and "$" in module else None
    return (module[: inside.start()], inside[1] or inside[2]) if inside else (module, function)


def _heading(bare: str) -> Heading | None:
    if thread := _THREAD.match(bare):
        bare = bare[thread.end() :]
    console = _CONSOLE.match(bare)
    lead = console[0] if console else next((lead for lead in _LEADS if bare.startswith(lead)), "")
    bare = bare[len(lead) :].removesuffix(":" if console else "")
    return error_line(bare) or (Heading(bare) if lead and _CLASS.match(bare) else None)


def _alone(bare: str) -> Heading | None:
    if printed := _CLOJURE.match(bare):
        return Heading(printed[1], None, Frame(printed[2], int(printed[3])))
    heading = _heading(bare) if _THREAD.match(bare) or bare.startswith("Caused by: ") else None
    return heading if heading and "." in str(heading.error) else None


DIALECT = Dialect("java", _frame, _heading, filler=_OMITTED, alone=_alone)
"""Every ``Caused by`` is a separate trace."""
