"""The namespaces of a ledger: each is one kind of record, and is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.ledger.adjudication import Adjudication
    from tracker.ledger.annotators import Annotators
    from tracker.ledger.answering import Answering
    from tracker.ledger.assignments import Assignments
    from tracker.ledger.categories import Categories
    from tracker.ledger.estimates import Estimates
    from tracker.ledger.flags import Flags
    from tracker.ledger.import_records import Imports
    from tracker.ledger.items import Items
    from tracker.ledger.judges import Judging
    from tracker.ledger.notes import Notes
    from tracker.ledger.panels import Panels
    from tracker.ledger.pay import Pay
    from tracker.ledger.projects import Projects
    from tracker.ledger.questions import Questions
    from tracker.ledger.requests import Requests
    from tracker.ledger.rounds import Rounds
    from tracker.ledger.rules import Rules
    from tracker.ledger.tokens import Tokens
    from tracker.ledger.users import Users
    from tracker.ledger.webhooks import Webhooks


def _namespace(module: str, name: str) -> Any:
    """Return a property that imports a namespace of this room, and opens it for the ledger."""

    def opened(ledger: Transactions) -> Any:
        return getattr(import_module(f"tracker.ledger.{module}"), name)(ledger)

    return property(opened)


class Records(Transactions):
    """The namespaces of a ledger; one is imported when it is asked for."""

    projects: Projects = _namespace("projects", "Projects")
    """Create, list, show, set, rename, archive and delete projects."""
    questions: Questions = _namespace("questions", "Questions")
    """List, show, add, set and rename the questions of projects."""
    notes: Notes = _namespace("notes", "Notes")
    """Add, list and remove the notes on a project's time line."""
    annotators: Annotators = _namespace("annotators", "Annotators")
    """List, rename, merge, split and erase annotators; set their kinds and aliases."""
    assignments: Assignments = _namespace("assignments", "Assignments")
    """Assign items to people; list and withdraw assignments."""
    answering: Answering = _namespace("answering", "Answering")
    """Ask for the next item of somebody, keep and record what they answer."""
    rounds: Rounds = _namespace("rounds", "Rounds")
    """Start, list and show calibration rounds."""
    rules: Rules = _namespace("rules", "Rules")
    """Pause people by the rules of a file."""
    panels: Panels = _namespace("panels", "Panels")
    """Hold several models against people, and say which items still need people."""
    pay: Pay = _namespace("pay", "Pay")
    """Count what people did in a period, and what it costs."""
    categories: Categories = _namespace("categories", "Categories")
    """List, order, merge, split and rename categories."""
    items: Items = _namespace("items", "Items")
    """List, show and choose items."""
    adjudication: Adjudication = _namespace("adjudication", "Adjudication")
    """List, show, decide and count the items about which annotators differ."""
    estimates: Estimates = _namespace("estimates", "Estimates")
    """Estimate figures about all items from people's and models' answers."""
    judges: Judging = _namespace("judges", "Judging")
    """Say whether models may be trusted beside people."""
    imports: Imports = _namespace("import_records", "Imports")
    """List, show and undo imports."""
    webhooks: Webhooks = _namespace("webhooks", "Webhooks")
    """Add, list, test and remove webhooks; deliver their messages."""
    requests: Requests = _namespace("requests", "Requests")
    """Begin and end requests that programs may send again."""
    flags: Flags = _namespace("flags", "Flags")
    """List, show, acknowledge, dismiss, resolve, reopen and appeal against findings."""
    users: Users = _namespace("users", "Users")
    """List, add, set and remove who may sign in to `tracker serve`."""
    tokens: Tokens = _namespace("tokens", "Tokens")
    """List, add and revoke the tokens of users' programs."""
