"""The namespaces of a ledger: each is one kind of record, and is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


class Records(Transactions):
    """The namespaces of a ledger; one is imported when it is asked for."""

    @property
    def projects(self) -> Projects:
        """Create, list, show, set, rename, archive and delete projects."""
        from tracker.ledger.projects import Projects

        return Projects(self)

    @property
    def questions(self) -> Questions:
        """List, show, add, set and rename the questions of projects."""
        from tracker.ledger.questions import Questions

        return Questions(self)

    @property
    def notes(self) -> Notes:
        """Add, list and remove the notes on a project's time line."""
        from tracker.ledger.notes import Notes

        return Notes(self)

    @property
    def annotators(self) -> Annotators:
        """List, rename, merge, split and erase annotators; set their kinds and aliases."""
        from tracker.ledger.annotators import Annotators

        return Annotators(self)

    @property
    def assignments(self) -> Assignments:
        """Assign items to people, list and withdraw what is assigned."""
        from tracker.ledger.assignments import Assignments

        return Assignments(self)

    @property
    def answering(self) -> Answering:
        """Ask for the next item of somebody, keep and record what they answer."""
        from tracker.ledger.answering import Answering

        return Answering(self)

    @property
    def rounds(self) -> Rounds:
        """Start, list and show calibration rounds."""
        from tracker.ledger.rounds import Rounds

        return Rounds(self)

    @property
    def rules(self) -> Rules:
        """Pause people by the rules of a file."""
        from tracker.ledger.rules import Rules

        return Rules(self)

    @property
    def panels(self) -> Panels:
        """Hold several models against people, and say which items still need people."""
        from tracker.ledger.panels import Panels

        return Panels(self)

    @property
    def pay(self) -> Pay:
        """Count what people did in a period, and what it costs."""
        from tracker.ledger.pay import Pay

        return Pay(self)

    @property
    def categories(self) -> Categories:
        """List, order, merge, split and rename categories."""
        from tracker.ledger.categories import Categories

        return Categories(self)

    @property
    def items(self) -> Items:
        """List, show and choose items."""
        from tracker.ledger.items import Items

        return Items(self)

    @property
    def adjudication(self) -> Adjudication:
        """List, show, decide and count the items about which annotators differ."""
        from tracker.ledger.adjudication import Adjudication

        return Adjudication(self)

    @property
    def estimates(self) -> Estimates:
        """Estimate figures about all items from people's and models' answers."""
        from tracker.ledger.estimates import Estimates

        return Estimates(self)

    @property
    def judges(self) -> Judging:
        """Say whether models may be trusted beside people."""
        from tracker.ledger.judges import Judging

        return Judging(self)

    @property
    def imports(self) -> Imports:
        """List, show and undo imports."""
        from tracker.ledger.import_records import Imports

        return Imports(self)

    @property
    def webhooks(self) -> Webhooks:
        """Add, list, test and remove webhooks; deliver their messages."""
        from tracker.ledger.webhooks import Webhooks

        return Webhooks(self)

    @property
    def requests(self) -> Requests:
        """Begin and end requests that programs may send again."""
        from tracker.ledger.requests import Requests

        return Requests(self)

    @property
    def flags(self) -> Flags:
        """List, show, acknowledge, dismiss, resolve, reopen and appeal against findings."""
        from tracker.ledger.flags import Flags

        return Flags(self)

    @property
    def users(self) -> Users:
        """List, add, set and remove who may sign in to `tracker serve`."""
        from tracker.ledger.users import Users

        return Users(self)

    @property
    def tokens(self) -> Tokens:
        """List, add and revoke the tokens of users' programs."""
        from tracker.ledger.tokens import Tokens

        return Tokens(self)
