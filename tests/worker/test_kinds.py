from typing import get_args

from bot.jobs import OnIssueWork
from bot.worker.worker import ON_ISSUE


def test_every_kind_of_work_on_an_issue_has_its_function() -> None:
    assert set(ON_ISSUE) == set(get_args(OnIssueWork))
