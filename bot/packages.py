"""Import single modules of a library's package without all that the package imports for those who use it whole."""

from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

_LATE = frozenset({"httpx", "langgraph_sdk", "langsmith.types", "psutil"})
"""Clients of servers, their types, and what only they need: a local run uses none, and they take a tenth of it."""


class LatePackages(SourceFileLoader):
    """A finder for ``sys.meta_path``: these packages run their ``__init__`` when a name is used that it defines."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Find one of the packages."""
        spec = PathFinder.find_spec(name, path) if name in _LATE else None
        if spec is not None and spec.origin is not None:
            spec.loader = cls(name, spec.origin)
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing yet."""
        module.__class__ = _Package


class _Package(ModuleType):
    def __getattr__(self, name: str) -> Any:
        super().__setattr__("__class__", ModuleType)
        SourceFileLoader(self.__name__, str(self.__file__)).exec_module(self)
        return getattr(self, name)
