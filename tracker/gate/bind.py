"""A gate's file meets a project: what is named in it must be there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from shlex import quote

from tracker.agreement.coefficients import check_measures
from tracker.agreement.metric import check_metric
from tracker.core.errors import InvalidOption, Refused
from tracker.gate.checks import EVERY, AtLeast, Check, GateConfig, MaxDrop
from tracker.gate.toml_table import refused
from tracker.projects.lookup import near
from tracker.projects.project import ProjectInfo

_MOST_NAMES = 12


def fitted(config: GateConfig, project: ProjectInfo, categories: Mapping[int, str]) -> GateConfig:
    """The checks with their measures as the project calls them (AC1 is AC2 with weights).

    Raises Refused, with the line, for a reading or a measure that does not fit the project, and
    for a category that it does not have.
    """
    try:
        check_metric(project, categories, config.metric)
    except InvalidOption as error:
        raise _of_reading(config, error) from None
    names = list(categories.values())
    checks = tuple(_fitted(config, check, project, names) for check in config.checks)
    return replace(config, checks=checks)


def _fitted(config: GateConfig, check: Check, project: ProjectInfo, names: list[str]) -> Check:
    if not isinstance(check, AtLeast | MaxDrop):
        return check
    measure, category = check.figure.measure, check.figure.category
    if measure is not None:
        try:
            (measure,) = check_measures(project, [measure], config.metric, few=True)
        except InvalidOption as error:
            mend = _in_a_file(error.mend)
            raise refused(config.source, check.place, error.message, mend, key="measure") from None
        return replace(check, figure=replace(check.figure, measure=measure))
    if category not in {EVERY, *names}:
        mend = near(category or "", names) or _there(project, names)
        message = f"{project.name!r} has no category {category!r}"
        raise refused(config.source, check.place, message, mend, key="category")
    return check


def _there(project: ProjectInfo, names: list[str]) -> str:
    if not names:
        return f"it has none yet: tracker import FILE --project {quote(project.name)}"
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"it has: {', '.join(names[:_MOST_NAMES])}{more}"


def _of_reading(config: GateConfig, error: InvalidOption) -> Refused:
    """The error on the line of the key that it is about."""
    told = [key for key in ("weights", "scale", "distance") if getattr(config.metric, key)]
    key = next((key for key in told if key in error.message), told[0])
    message = _in_a_file(error.message) or ""
    return refused(config.source, config.place, message, _in_a_file(error.mend), key=key)


def _in_a_file(text: str | None) -> str | None:
    """Words about options as they are about keys; a command to type stays one."""
    return text if text is None or "tracker " in text else text.replace("--", "")
