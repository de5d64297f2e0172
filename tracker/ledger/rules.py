"""`ledger.rules`: rules that pause people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tracker.core.operations import Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project

if TYPE_CHECKING:
    from tracker.gate.rules import RulesChecked

DEFAULT_RULES = "rules.toml"
STARTING_RULES = """\
# Rules that pause people: tracker rules check PROJECT, with --dry-run to see whom first.
# Each pauses whoever is surely below it; tracker annotator resume takes that back.

[[rule]]
when = "gold accuracy < 0.7 over the last 30"
then = "pause"

[[rule]]
when = "agreement < 0.5 over the last 50"
then = "pause"

[[rule]]
when = "finding random_answers"
then = "pause"
"""


class Rules(Namespace):
    """Rules of a file, held against the people of a project."""

    @operation("rules check", "POST /projects/{project}/rules/check", "checkRules")
    def check(
        self,
        project: Project,
        *,
        rules: Annotated[
            str | Path | None,
            Option(
                "TOML file of rules (tables [[rule]]).", DEFAULT_RULES, metavar="FILE",
                faces=frozenset({"command"}),
            ),
        ] = None,
        text: Annotated[
            str | None,
            Option(
                "The rules as TOML.", longest=100_000, faces=frozenset({"route"}),
                examples=('[[rule]]\\nwhen = "finding random_answers"\\nthen = "pause"\\n',),
            ),
        ] = None,
        dry_run: Annotated[bool, Option("Say who would be paused; store nothing.")] = False,
    ) -> RulesChecked:  # fmt: skip
        """Pause the people whom the rules of a file tell to pause, each with the evidence.

        A share of the last answers fires a rule if it is surely below: if the upper end of its
        99.9% interval is. Whoever has fewer answers is left alone. Whoever was resumed is judged
        by answers given since.

        Raises Refused, with the line, for a file that cannot be read.

        Examples:
        - `tracker rules check reviews --dry-run`
        - `tracker rules check reviews --rules strict.toml --json`

        Next: `tracker annotator list reviews`
        """
        from tracker.gate.rules import check_rules, parse_rules, pause_by_rules, read_rules
        from tracker.work.events import tell_of_pauses

        if rules is None:
            source, read = DEFAULT_RULES, parse_rules(text or "", DEFAULT_RULES)
        else:
            source, read = str(rules), read_rules(Path(rules))
        with self._ledger.reading(project) as (connection, info):
            checked = check_rules(connection, info, read, source)
        if dry_run or not checked.paused:
            return replace(checked, dry_run=dry_run)
        with self._ledger.writing(project) as (connection, info):
            paused = pause_by_rules(connection, info, checked.paused)
            if paused:
                tell_of_pauses(connection, info, [firing.rule for firing in paused])
            return replace(checked, paused=paused)
