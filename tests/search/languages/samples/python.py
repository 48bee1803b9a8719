"""A sample of what a Python file may define."""

import functools
import os.path as osp

from ..package.module import thing
from . import sibling


def plain(first, second: int, *args, key=1, typed: str = "x", **rest):
    """Say what it does."""

    def inner(value):
        return value

    return inner(first)


async def fetch(url, /, *, timeout=3.0):
    raise TimeoutError(f"no answer from {url}")


@functools.cache
@functools.wraps(plain)
def decorated():
    class Local:
        def method(self):
            return sibling, thing, osp

    return Local


@functools.total_ordering
class Account:
    limit: int = 3

    class Meta:
        ordering = "name"

    def __init__(self, name):
        self.name = name

    @property
    def balance(self) -> int:
        return 0

    @staticmethod
    def parse(text):
        raise ValueError("cannot read the account")

    async def close(self): ...


if True:

    def conditional():
        pass

else:

    def conditional():
        pass
