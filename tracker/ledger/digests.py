"""The digest as every face shows it, and sent to people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Unpack

from tracker.core.errors import Refused
from tracker.core.operations import operation
from tracker.core.results import Answer
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.plan.asking import DigestAsked

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.plan.digest import Digest
    from tracker.sync.sending import Sending


class Digests(Namespace):
    """What a manager should know of the last days."""

    _ledger: Ledger

    @operation("digest", "GET /projects/{project}/digest", "getDigest")
    def digest(self, project: Project, **asked: Unpack[DigestAsked]) -> Annotated[Answer, Digest]:
        """Show what came in lately, what moved, whom to talk to, what to decide and to label.

        Each in a few sentences, for a mail or a chat: `--send`, or `--format markdown` or `html`.

        Examples:
        - `tracker digest reviews`
        - `tracker digest reviews --since 2026-03-01 --format html > mail.html`
        - `tracker digest rubric -q tone --json`
        - `tracker digest reviews --send https://example.org/hook --dry-run`

        Next: `tracker status reviews`
        """
        return _answer(self._ledger.digest(project, **asked))

    def send(
        self,
        project: str,
        urls: Sequence[str],
        *,
        password: str = "",
        dry_run: bool = False,
        **asked: Unpack[DigestAsked],
    ) -> Sending:
        """Send a digest to addresses of mail, chats or programs; with ``dry_run`` to nobody.

        ``password`` is that of mail, for addresses without one. Raises InvalidOption for what is no
        address, before anything is counted; Refused if one does not take it, after the others.
        """
        from tracker.plan.digest import digest_headline, digest_parts
        from tracker.render.formats import FORMATS
        from tracker.render.nouns import capitalized
        from tracker.sync.sending import Message, Sending, Target, read_address

        addresses = [read_address(url, password) for url in urls]
        digest = self._ledger.digest(project, **asked)
        html = "\n".join(FORMATS["html"](_answer(digest)))
        subject = f"{digest.project}: {digest_headline(digest)}"
        parts = [(part.title, [*map(capitalized, part.lines)]) for part in digest_parts(digest)]
        message = Message(subject, parts, html, digest.to_dict())
        sent, faults = [], []
        for address in addresses:
            try:
                if not dry_run:
                    address.send(message)
            except Refused as error:
                faults.append(error)
            else:
                content = address.content(message) if dry_run else None
                sent.append(Target(address.name, content))
        if faults:
            _raise(faults, [target.to for target in sent])
        return Sending(digest.project, message.short_subject, dry_run, tuple(sent))


def _answer(digest: Digest) -> Answer:
    from tracker.plan.digest import digest_view

    rows = [
        {name: value for name, value in question.to_dict().items() if name != "categories"}
        for question in digest.questions
    ]
    return Answer(digest.to_dict, lambda: rows, lambda: digest_view(digest))


def _raise(faults: Sequence[Refused], sent: Iterable[str]) -> None:
    """Raise Refused for addresses that did not take a message, and say which others did."""
    others = f"sent to the others: {'; '.join(sent)}" if sent else None
    mends = [error.mend for error in faults if error.mend]
    text = "; ".join(dict.fromkeys(error.message for error in faults))
    raise Refused(f"the digest was not sent: {text}", others or next(iter(mends), None))
