"""What somebody did to a project, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tracker.render.nouns import count_noun

if TYPE_CHECKING:
    from tracker.counts.trail import Act, Trail

_SENTENCES: Final = {
    "create": "created the project",
    "time zone": "set the time zone from {from} to {to}",
    "rename": "renamed the project from {from} to {to}",
    "archive": "archived the project",
    "restore": "put the project back on the list",
    "import": "imported {sources}",
    "undo": "undid import {import}",
    "add question": "added the question {name}",
    "rename question": "renamed the question {from} to {to}",
    "set project": "set {question}: {to}",
    "order categories": "ordered the categories of {question}",
    "rename category": "renamed the category {from} of {question} to {to}",
    "merge categories": "merged the category {category} of {question} into {into}",
    "split category": "split the category {category} of {question} from {from}",
    "alias": "gave {annotator} the alias {alias}",
    "rename annotator": "renamed {alias} to {annotator}",
    "annotator kind": "made {annotator} a {to}",
    "annotator leave": "noted that {annotator} left on {on}",
    "annotator return": "noted that {annotator} is back",
    "merge annotators": "merged {annotator} into {into}",
    "split annotator": "split {alias} from {from}",
    "erase annotator": "erased {annotator}",
    "item alias": "added {aliases} other keys of items",
    "item unalias": "removed {aliases} other keys of items",
    "note": "added note {note}",
    "remove note": "removed note {note}",
    "prune": "thinned out snapshots {thinned}",
    "snapshot": "took the snapshot {name}",
}
_OF_FINDINGS: Final = {
    "appealed": "appealed against {}",
    "upheld": "upheld the appeal against {}",
    "rejected": "rejected the appeal against {}",
    "no longer found": "no longer found: {}",
}


def change_sentence(act: Act) -> str:
    """Return what somebody did, as it stands behind their name: "imported answers.csv"."""
    if act.findings:
        number = count_noun(act.findings, "finding") if act.findings > 1 else "finding {}"
        return _OF_FINDINGS.get(act.kind, act.kind + " {}").format(number.format(act.finding))
    if isinstance(act.detail.get("into"), list):  # annotators, by one file
        pairs = zip(act.detail["annotator"], act.detail["into"], strict=True)
        return "merged " + ", ".join(f"{name} into {into}" for name, into in pairs)
    try:
        return _SENTENCES[act.kind].format_map({k: _words(v) for k, v in act.detail.items()})
    except KeyError:  # of an older version of the program
        return act.kind


def trail_as_json(project: str, trail: Trail) -> dict[str, Any]:
    """Return the acts with their sentences."""
    rows = [act.to_dict() | {"what": change_sentence(act)} for act in trail.acts]
    return {"project": project, "changes": rows, "next": trail.next}


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(one)}" for name, one in value.items())
    if isinstance(value, bool) or value is None:
        return {True: "on", False: "off", None: "to no number"}[value]
    return ", ".join(map(str, value)) if isinstance(value, list) else value
