"""Parse traces of managed runtimes: Java, Kotlin, Scala and Groovy; C#, F# and Visual Basic."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, Heading, Line, error_line
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_FORMS = load_sections(Path(__file__).with_name("managed.txt"))
_JVM_PLACE, _INSIDE, _OMITTED, _CONSOLE, _BARE, _CLASS, _CLOJURE, _APEX, _NAME, _AT = (
    lazy("".join(_FORMS[name])) for name in "jvm_place inside omitted console bare class clojure apex name at".split()
)
_DOTNET_PLACE, _GENERATED, _LEAD, _MONO, _ARGUMENTS, _NOTE = (
    lazy("".join(_FORMS[name])) for name in "dotnet_place generated lead mono arguments note".split()
)
_FILLER = lazy("".join(_FORMS["filler"]), re.IGNORECASE)
_GENERAL = frozenset({"invokeSuspend", "invoke", "invokeStatic", "doInvoke", "doCall", "call", "apply", "accept"})
_NOWHERE = ("Native Method", "Unknown Source", "<generated>", "Unknown Source:0")
_LEADS = (
    "Caused by: ",
    "Suppressed: ",
    "Wrapped by: ",
    "[CIRCULAR REFERENCE: ",
    "FATAL EXCEPTION: ",
    "Fatal Exception: ",
    "STACK_TRACE=",
)
_THREAD = lazy(r'Exception in thread "[^"]{0,200}" ')
_UNHANDLED = ("Unhandled exception. ", "Unhandled Exception: ")
_MAX_ARGUMENTS = 800
_MAX_PLACE = 500


def _jvm_frame(bare: str) -> Frame | None:
    is_bare = bare.endswith(")") and bool(_BARE.match(bare))
    if not (is_bare or bare.startswith("at ")):
        return None
    head, paren, rest = bare.removeprefix("at ").partition("(")
    place, closed, _ = rest.partition(")")
    # A frame may begin with a class loader and a module: ``app//java.base/java.util…``.
    module, dot, function = head.strip(" `").rpartition("/")[2].rpartition(".")
    if not (paren and closed and dot and module):
        return None
    # The compiler made another class of the one in the source.
    inside = _INSIDE.search(module, max(0, len(module) - 200)) if function in _GENERAL and "$" in module else None
    if inside:
        module, function = module[: inside.start()], inside[1] or inside[2]
    if place in _NOWHERE:
        return Frame(path="", function=function, module=module)
    match = _JVM_PLACE.match(place)
    if not match:
        return None
    # Native methods and obfuscators give numbers of zero or less, which name no line.
    line = int(match[2]) if match[2] else 0
    return Frame(path=match[1], line=line if line > 0 else None, function=function, module=module)


def _jvm_heading(bare: str) -> Heading | None:
    if thread := _THREAD.match(bare):
        bare = bare[thread.end() :]
    console = _CONSOLE.match(bare)
    lead = console[0] if console else next((lead for lead in _LEADS if bare.startswith(lead)), "")
    bare = bare[len(lead) :].removesuffix(":" if console else "")
    return error_line(bare) or (Heading(bare) if lead and _CLASS.match(bare) else None)


def _jvm_alone(bare: str) -> Heading | None:
    if printed := _CLOJURE.match(bare):
        return Heading(printed[1], None, Frame(printed[2], int(printed[3])))
    heading = _jvm_heading(bare) if _THREAD.match(bare) or bare.startswith("Caused by: ") else None
    return heading if heading and "." in str(heading.error) else None


def find_dotnet(lines: Sequence[Line]) -> list[StackTrace]:
    """Find .NET traces; an inner exception is a separate trace, above that of the exception around it."""
    index = {line.start: at for at, line in enumerate(lines)}
    around: list[Heading] = []
    traces: list[StackTrace] = []
    for trace in sorted(_DOTNET.find(lines), key=lambda trace: trace.start):
        first = index[trace.start]
        if around and trace.error is None and first and _NOTE.match(lines[first - 1].bare):
            heading = around.pop()
            # The heading was read as a trace without frames before.
            traces = [other for other in traces if other.frames or other.error != heading.error]
            traces.append(replace(trace, error=heading.error, message=heading.message))
            continue
        if trace.frames:
            around = _around(lines, first)
        traces.append(trace)
    return traces


def _around(lines: Sequence[Line], index: int) -> list[Heading]:
    """Return the exceptions around the one whose heading a line is, outermost first."""
    chain = lines[index].bare
    while chain.startswith("---> ") and index:
        index -= 1
        chain = f"{lines[index].bare} {chain}"
    return [heading for part in chain.split("---> ")[:-1] if (heading := _dotnet_heading(part.strip()))]


def _dotnet_frame(bare: str) -> Frame | None:
    lead = _AT.match(bare)
    if not lead and " [0x" not in bare:
        return None
    written, paren, rest = bare[lead.end() if lead else 0 :].partition("(")
    # Some printers put modifiers and the type of the result in front: ``async Task<int> Acme.Folder.Fold``.
    name = written.rstrip().rpartition(" ")[2]
    module, dot, function = _split_name(name)
    if not (paren and dot and module and _NAME.match(name)):
        return None
    place = _DOTNET_PLACE.search(bare, max(0, len(bare) - _MAX_PLACE))
    if place:
        return Frame(forward(place[1]), int(place[2]), function, module)
    mono = _MONO.search(rest[:_MAX_ARGUMENTS])
    if mono:
        return Frame(forward(mono[1] or ""), int(mono[2]) if mono[1] else None, function, module)
    # Frames without a location look the same in other languages, but those have a file between the parentheses.
    if not lead or not rest.endswith(")") or rest.startswith("<") or ":" in rest or ".java" in rest:
        return None
    return Frame("", None, function, module) if bare.startswith("at ") or " " not in written.strip() else None


def _split_name(name: str) -> tuple[str, str, str]:
    if generated := _GENERATED.search(name):
        return name[: generated.start()], ".", generated[1]
    # The arguments of a generic type contain dots as well.
    module, dot, function = _ARGUMENTS.sub("", name).rpartition(".")
    # A constructor: Acme.Parser..ctor
    return (module[:-1], dot, f".{function}") if module.endswith(".") else (module, dot, function)


def _dotnet_heading(bare: str) -> Heading | None:
    if lead := _LEAD.match(bare):
        bare = bare[lead.end() :]
    # The outer exception and the inner one may share a line; the frames below belong to the inner one.
    return error_line(bare.rpartition(" ---> ")[2]) or error_line(bare)


def _dotnet_alone(bare: str) -> Heading | None:
    heading = _dotnet_heading(bare) if bare.startswith(_UNHANDLED) else None
    # Without frames only a full type name counts: "Error: …" alone may be of any language, or prose.
    return heading if heading and "." in str(heading.error) else None


def _apex_frame(bare: str) -> Frame | None:
    if not (found := _APEX.match(bare)):
        return None
    parts = found[2].split(".")
    # A package's namespace is in front of its classes.
    name, *rest = parts[1:] if len(parts) > 2 and parts[0].islower() else parts
    return Frame(f"{name}.{'cls' if found[1] == 'Class' else 'trigger'}", int(found[3]), rest[-1] if rest else None)


_DOTNET = Dialect("csharp", _dotnet_frame, _dotnet_heading, filler=_FILLER, alone=_dotnet_alone)
JVM = Dialect("java", _jvm_frame, _jvm_heading, filler=_OMITTED, alone=_jvm_alone)
"""Every ``Caused by`` is a separate trace."""
APEX = Dialect("apex", _apex_frame, error_line, filler=lazy("External entry point"))
