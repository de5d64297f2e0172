"""Projects: made, found, renamed, archived, purged; their settings, options and notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Connection, func, select, text

from tests.audit.flags.found import Seen, record
from tests.helpers import (
    ONE,
    SEVERAL,
    SPANS,
    Write,
    count_statements,
    fates,
    question_of,
    standing,
    stored,
    undo,
)
from tests.profiles import exhaustive
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects import projects
from tracker.projects.annotators import list_annotators, rename_annotator
from tracker.projects.categories import category_names, project_labels_by_category, rename_category
from tracker.projects.item_links import item_address, media_of, origin_of
from tracker.projects.notes import add_note, list_notes, remove_note
from tracker.projects.questions import QuestionOptions, create_project
from tracker.projects.settings import set_question
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.schema import Change

ANSWERS = "item,annotator,category,gold,text\n i,A,x,x,t\n i,B,y,x,t\n j,A,x,,\n j,B,x,,"


NONE: list[tuple[str, dict[str, Any], str]] = [
    ("  ", {}, "name is empty"),
    ("é" * 251, {}, "longer than 500 bytes"),
    ("a\0b", {}, "NUL"),
    ("there", {}, "'there' exists"),
    ("p", {"answers": "two"}, "one, several, spans"),
    ("p", {"offsets": "bytes"}, "characters, tokens"),
    ("p", {"wanted": 0}, "is not a number of answers"),
    ("p", {"categories": ()}, "names no category"),
    ("p", {"categories": ("a", "a ")}, "names a category twice"),
    ("p", {"categories": ("a", "x" * 501)}, "longer than 500 bytes"),
    ("p", {"categories": ("1", "b"), "scale": "interval"}, "'b' is not a number"),
]


def test_options_that_are_none(sqlite_ledger: Ledger) -> None:
    with sqlite_ledger.database.write() as connection:
        create_project(connection, "there")
    before = stored(sqlite_ledger)
    for name, options, sign in NONE:
        refused = pytest.raises(InvalidOption, match=sign)
        with refused, sqlite_ledger.database.write() as connection:
            create_project(connection, name, QuestionOptions(**options))
    assert stored(sqlite_ledger) == before


def test_projects_are_found_renamed_and_archived(ledger: Ledger, write: Write) -> None:
    with ledger.database.read() as connection, pytest.raises(NotFound, match="no project yet"):
        projects.find_project(connection, None)
    ledger.import_file(write(ANSWERS), "reviews")
    before = standing(ledger, "reviews")
    with ledger.database.write() as connection:
        assert projects.find_project(connection, None).name == "reviews"
        create_project(connection, "Reviews")
        assert projects.find_project(connection, " reviews ").name == "reviews"
        with pytest.raises(InvalidOption, match="which project"):
            projects.find_project(connection, None)
        with pytest.raises(NotFound, match="did you mean 'reviews' or 'Reviews'"):
            projects.find_project(connection, "revews")
    with ledger.writing("reviews") as (connection, project):
        projects.rename_project(connection, project, " r ")
    assert standing(ledger, "r") == before
    with ledger.writing("r") as (connection, project):
        projects.archive_project(connection, project, archived=True)
        assert [row.name for row in projects.list_projects(connection)] == ["Reviews"]
        assert len(projects.list_projects(connection, archived=True)) == 2
    assert ledger.agreement("r").counts.answers == 4, "it is still there by its name"
    with ledger.writing("r") as (connection, project):
        projects.archive_project(connection, project, archived=False)
        assert len(projects.list_projects(connection)) == 2


def test_a_purge_leaves_a_tombstone_and_nothing_else(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "kept", keep=["text"])
    ledger.audit("kept", record=True)
    ledger.snapshot("kept")
    figures = ledger.agreement("kept").to_dict()
    before = stored(ledger)
    for _ in range(2):
        ledger.import_file(write(ANSWERS), "p", keep=["text"])
        ledger.import_file(write("item,annotator,category\n i,A,y"), "p")
        ledger.snapshot("p", name="s")
        with ledger.writing("p") as (connection, project):
            rename_annotator(connection, project, "A", "Ann")
        with ledger.writing("p") as (connection, project):
            projects.purge_project(connection, project)
    assert stored(ledger) == before | {"purges": 2}
    assert ledger.agreement("kept").to_dict() == figures
    assert ledger.database.check() == []
    ledger.import_file(write(ANSWERS), "p")
    ledger.snapshot("p")
    with ledger.reading("p") as (_, project):
        assert project.id == 4, "no number is given again"
    # Its append-only rows are not open to deletion by the old tombstones.
    with pytest.raises(Exception, match="append-only"), ledger.database.write() as connection:
        connection.execute(text("DELETE FROM snapshots WHERE project_id = 4"))


def test_categories_are_renamed_with_their_labels(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "p")
    with ledger.changing("p") as (connection, question):
        rename_category(connection, question, "x", " good ")
    people = [row for row in standing(ledger, "p") if row[1] != "gold"]
    assert people == [("i", "A", "good"), ("i", "B", "y"), ("j", "A", "good"), ("j", "B", "good")]
    for old, new, sign in (("god", "z", "did you mean 'good'"), ("good", " ", "name is empty")):
        refused = pytest.raises(TrackerError, match=sign)
        with refused, ledger.changing("p") as (connection, question):
            rename_category(connection, question, old, new)
    file = write("item,annotator,category\n i,A,1")
    ledger.import_file(file, "numbers", options=QuestionOptions(scale="ratio"))
    refused = pytest.raises(TrackerError, match="'one' is not a number")
    with refused, ledger.changing("numbers") as (connection, question):
        rename_category(connection, question, "1", "one")


def test_days_are_those_of_the_projects_time_zone(ledger: Ledger) -> None:
    ledger.projects.create("p", timezone="Europe/Berlin")
    # In Berlin the days begin at 22:00 UTC, and from 2026-10-25 on at 23:00.
    rows = [("i", "a", "2026-10-18T21:59"), ("i", "b", "2026-10-18T22:00"),
            ("j", "a", "2026-10-25T22:59"), ("j", "b", "2026-10-25T23:00")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "labeled_at"])
    ledger.import_frame(frame.assign(category="x"), "p")

    def answers(**chosen: Any) -> int:
        return int(ledger.agreement("p", **chosen).to_dict()["counts"]["answers"])

    def curve() -> list[str]:
        points = ledger.history("p", every="week").to_dict()["snapshots"]
        return [f"{one['as_of'][5:16]}: {one['counts']['answers']}" for one in points]

    assert answers(since="2026-10-19") == answers(since="2026-10-18T22:00") == 3
    assert answers(until="2026-10-18") == answers(as_of="2026-10-18") == 1
    assert curve() == ["10-18T21:59: 1", "10-25T22:59: 3", "11-01T22:59: 4"]
    note = ledger.notes.add("p", "v2", "2026-10-19", guideline="v2")
    assert clock.iso(note.at) == "2026-10-18T22:00:00Z"
    assert answers(guideline="v2") == 3
    assert ledger.moments("p", 9)[0] == "2026-10-18"
    ledger.projects.set("p", timezone="UTC")
    assert answers(until="2026-10-18") == 2
    assert curve() == ["10-18T23:59: 2", "10-25T23:59: 4"]
    with pytest.raises(InvalidOption, match="'Europe/Berlin'"):
        ledger.projects.set("p", timezone="Europe/Berln")


def test_the_revision_differs_after_whatever_is_recorded(ledger: Ledger, write: Write) -> None:
    ledger.projects.create("other")
    ledger.import_file(write(ANSWERS + "\n k,A,x,,"), "p")
    other, seen = ledger.revision("other"), [ledger.revision("p")]

    def revision_of_answers() -> object:
        with ledger.reading("p") as (connection, project):
            return projects.answers_revision(connection, project.id)

    counted = revision_of_answers()
    for act in (
        lambda: ledger.snapshot("p"),
        lambda: record(ledger, Seen(1)),
        lambda: ledger.flags.dismiss("p", [1], by="ada", note="was told to"),
        lambda: ledger.notes.add("p", "a holiday"),
        lambda: ledger.snapshot("p"),
        lambda: ledger.prune("p", "last:1"),
        lambda: ledger.assignments.assign("p", to=["B"], answers=2),
        lambda: ledger.imports.undo(1),
    ):
        assert revision_of_answers() == counted, "what changes no answer is counted no more"
        act()
        seen.append(ledger.revision("p"))
        assert seen[-1] not in seen[:-1]
        assert ledger.revisions()["p"] == seen[-1]
    assert revision_of_answers() != counted
    ledger.agreement("p")
    assert ledger.revision("p") == seen[-1]
    assert ledger.revision("other") == other


ROWS = "item,annotator,category\n i,A,low\n i,B,high\n j,A,mid\n j,B,high\n k,A,low\n k,B,low"


@pytest.fixture
def ranked(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write(ROWS), "p")
    return ledger


def names(ledger: Ledger) -> list[str]:
    with ledger.asking("p") as (connection, question):
        return list(category_names(connection, question).values())


def alpha(ledger: Ledger, **asked: Any) -> float | None:
    return ledger.agreement("p", measures=["krippendorff_alpha"], **asked).measures[0].value


def changes(ledger: Ledger) -> int:
    with ledger.database.read() as connection:
        return connection.scalar(select(func.count(Change.id))) or 0


def test_a_transaction_that_only_reads_asks_once(ranked: Ledger) -> None:
    def people(connection: Connection, project: projects.ProjectInfo) -> list[str]:
        return [annotator.name for annotator in list_annotators(connection, project)]

    with ranked.writing("p") as (connection, project):
        assert people(connection, project) == ["A", "B"]
        rename_annotator(connection, project, "A", "Ann")
        assert people(connection, project) == ["Ann", "B"]
    ranked.imports.undo(1)
    with ranked.reading("p") as (connection, project):
        assert people(connection, project) == ["Ann"]
        with count_statements(ranked.database.engine) as statements:
            assert people(connection, project) == ["Ann"]
        assert statements.number == 0
        with as_it_was(connection, project.id, Moment(through=2)):
            assert people(connection, project) == ["Ann", "B"]
        assert people(connection, project) == ["Ann"]


def test_settings_change_and_are_known_as_they_were(ranked: Ledger, write: Write) -> None:
    ranked.snapshot("p")
    nominal, before = alpha(ranked), datetime.now(UTC)
    made = ranked.projects.set(
        "p", wanted=3, scale="ordinal", categories=["low", "mid", "high", "top"]
    ).question
    assert (made.target_answers, made.scale, made.categories_fixed) == (3, "ordinal", True)
    assert names(ranked) == ["low", "mid", "high", "top"]
    assert ranked.status("p").missing == 3
    ordinal = alpha(ranked)
    assert ordinal != nominal
    with pytest.raises(Rejected, match="'middling' is none of the project's categories"):
        ranked.import_file(write("item,annotator,category\n l,A,middling"), "p")
    assert ranked.record_snapshot("p", if_changed=True).fresh
    assert alpha(ranked, known_at=before) == nominal
    assert ranked.status("p", known_at=before).missing is None
    scales = [one.assessment.scale for one in ranked.history("p").snapshots]
    assert scales == ["nominal", "ordinal"]
    ranked.projects.set("p", opened=True, wanted=0)
    assert names(ranked) == ["low", "mid", "high", "top"]
    assert alpha(ranked) == ordinal
    ranked.import_file(write("item,annotator,category\n l,A,zero\n l,B,low"), "p")
    assert names(ranked)[-1] == "zero"
    assert alpha(ranked) is None  # of an order that does not name them all
    ranked.categories.order("p", ["zero", "low", "mid", "high", "top"])
    assert alpha(ranked) is not None
    assert ranked.verify("p").faults == ()


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"categories": ["low", "high"]}, Refused, r"leaves out 'mid' \(1 labels\).*merge p mid"),
    ({"scale": "interval"}, Refused, "'high' is not a number"),
    ({"scale": "rank"}, InvalidOption, "none of nominal"),
    ({"wanted": -1}, InvalidOption, "--wanted -1"),
    ({"categories": ["low", "low"]}, InvalidOption, "twice"),
    ({"categories": ["low"], "opened": True}, InvalidOption, "contradict"),
    ({}, InvalidOption, "nothing to set"),
]


def test_setting_that_cannot_be_or_is_set_already_changes_nothing(
    ranked: Ledger, write: Write
) -> None:
    with pytest.raises(InvalidOption, match=r"(?s)not set.*tracker project set p --wanted 3"):
        ranked.import_file(write(ROWS), "p", options=QuestionOptions(wanted=3))
    before = changes(ranked)
    for asked, error, match in REFUSED:
        with pytest.raises(error, match=f"(?s){match}"):
            ranked.projects.set("p", **asked)
    assert changes(ranked) == before
    ranked.projects.set("p", wanted=2, categories=["low", "mid", "high"])
    before = changes(ranked)
    ranked.projects.set("p", wanted=2, categories=["low", "mid", "high"])
    ranked.categories.order("p", ["low", "mid", "high"])
    assert changes(ranked) == before


def test_a_dropped_category_is_not_on_the_list_when_it_opens(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        made = create_project(connection, "p", QuestionOptions(categories=("a", "b", "c")))
        set_question(connection, made, categories=["b", "a"])
        found = question_of(connection)
        assert list(category_names(connection, found).values()) == ["b", "a"]
        opened = set_question(connection, found, opened=True)
        assert list(category_names(connection, opened).values()) == ["b", "a"]


def test_thresholds_of_a_project_decide_about_its_labels(ledger: Ledger) -> None:
    rows = [
        (f"i{n}", who, "xy"[n % 2 ^ (n < 2 and who == "b")]) for n in range(200) for who in "ab"
    ]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")

    def readiness() -> dict[str, Any]:
        return dict(ledger.agreement("p").to_dict()["readiness"])

    assert (readiness()["thresholds"], readiness()["state"]) == ((0.667, 0.8), "good_enough")
    ledger.projects.set("p", good_from=0.99)
    assert (readiness()["state"], readiness()["needs"]) == ("tentative", 0.99)
    with pytest.raises(InvalidOption, match=r"more than the 0\.99"):
        ledger.projects.set("p", tentative_from=0.995)
    ledger.projects.set("p", tentative_from=0.985)
    assert readiness()["state"] == "not_yet"
    with pytest.raises(InvalidOption, match="at most 1"):
        ledger.projects.set("p", good_from=1.5)


def test_item_links_are_checked_and_filled_in(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.projects.create("p")
    for link in (
        "javascript:alert({item})", "https://l.test/", "//l.test/{item}", "https://u:p@l.test/{item}",
        "https://l.test/{}", "https://l.test/{item!r}", "https://l.test/{item", "https://{item}/",
    ):  # fmt: skip
        with pytest.raises(InvalidOption, match="--item-link"):
            sqlite_ledger.projects.set("p", item_link=link)
        assert sqlite_ledger.projects.find("p").item_link is None
    query = "http://l.test:8080/?t={task id}&i={item}"
    for link, address in (
        ("https://l.test/{item}", "https://l.test/a%2Fb%20c"),
        (query, "http://l.test:8080/?t=7%26x%3D1&i=a%2Fb%20c"),
        ("https://l.test/{missing}", None),
    ):
        project = sqlite_ledger.projects.set("p", item_link=link).project
        assert item_address(project.item_link, "a/b c", {"task id": "7&x=1"}) == address
        project = sqlite_ledger.projects.set("p", item_link="").project
        assert item_address(project.item_link, "a/b c", {}) is None


def test_hosts_of_media_are_kept_as_origins(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.projects.create("p")
    hosts = ["m.test", "http://localhost:9000/images", "https://m.test/"]
    made = sqlite_ledger.projects.set("p", media_hosts=hosts).to_dict()
    assert made["media_hosts"] == ["http://localhost:9000", "https://m.test"]
    for host in ("*", "a b", "m.test;script-src *", "ftp://m.test", "'self'"):
        with pytest.raises(InvalidOption, match="--media-hosts"):
            sqlite_ledger.projects.set("p", media_hosts=[host])
    assert origin_of("HTTPS://M.Test:443/x.png") == "https://m.test:443"
    assert "media_hosts" not in sqlite_ledger.projects.set("p", media_hosts=[]).to_dict()


def test_media_of_an_item_are_those_of_hosts_that_the_project_shows() -> None:
    texts = ["https://m.test/a.PNG?v=1", "https://n.test/b.mp3 ", "see https://m.test/a.png",
             "https://m.test/page.html", "https://u:p@m.test/a.png", "https://m.test/c.webm",
             "https://m.test/a.PNG?v=1"]  # fmt: skip
    media = [(medium.tag, medium.origin, medium.allowed)
             for medium in media_of(texts, ["https://m.test"])]  # fmt: skip
    assert media == [("img", "https://m.test", True), ("audio", "https://n.test", False),
                     ("video", "https://m.test", True)]  # fmt: skip


MARCH, APRIL = 1_772_323_200_000_000, 1_775_001_600_000_000  # 2026-03-01, 2026-04-01


@pytest.fixture
def noted(ledger: Ledger) -> Ledger:
    """Notes of April, of March, of now; and one of another project."""
    with ledger.database.write() as connection:
        p, q = (create_project(connection, name).project for name in "pq")
        add_note(connection, p, "two joined", APRIL)
        add_note(connection, p, " guideline v2 ", MARCH)
        add_note(connection, p, "guideline v3")
        add_note(connection, q, "elsewhere", MARCH)
    return ledger


def texts(ledger: Ledger, project: str = "p") -> list[str]:
    with ledger.reading(project) as (connection, found):
        return [note.text for note in list_notes(connection, found)]


def test_notes_are_listed_by_their_moments(noted: Ledger) -> None:
    assert texts(noted) == ["guideline v2", "two joined", "guideline v3"]
    assert texts(noted, "q") == ["elsewhere"]
    with noted.writing("p") as (connection, project):
        assert abs(list_notes(connection, project)[2].at - clock.now()) < 60_000_000
        assert remove_note(connection, project, 3).text == "guideline v3"
        # Two of one moment are in the order they were made; no number is given again.
        assert [add_note(connection, project, text, MARCH).id for text in "cab"] == [4, 5, 6]
    assert texts(noted) == ["guideline v2", "c", "a", "b", "two joined"]
    missing = pytest.raises(NotFound, match="'p' has no note 3")
    with missing, noted.writing("p") as (connection, project):
        remove_note(connection, project, 3)
    with noted.writing("p") as (connection, project):
        projects.purge_project(connection, project)
    assert stored(noted)["notes"] == 1


def test_what_is_no_text(ledger: Ledger) -> None:
    for words, told in (
        (" \n ", "is empty"), ("a\0b", "not a character"), ("\udcff", "not a character"),
        ("x" * 10_001, "longer than 10,000 bytes"),
    ):  # fmt: skip
        with pytest.raises(InvalidOption, match=told), ledger.database.write() as connection:
            add_note(connection, create_project(connection, "p").project, words)
    assert stored(ledger) == {}


HEADER = "item,annotator,category,labeled_at\n"
FILES = (
    HEADER + "i,A,Pos,2024-01-01\n i,B,pos,2024-01-01\n j,A,neg,2024-01-01\n j,B,Pos,2024-01-01",
    HEADER + "i,A,neg,2024-01-02\n k,A,Pos,2024-01-02\n k,B,Pos,2024-01-02\n j,B,pos,2024-01-03",
    HEADER + "l,A,Pos,2024-01-04\n l,B,pos,2024-01-04\n i,A,Pos,2024-01-05",
)


def seen(ledger: Ledger, project: str = "p", **asked: Any) -> tuple[Any, ...]:
    with ledger.asking(project) as (connection, question):
        listed = project_labels_by_category(connection, question)
    measures = ["percent_agreement", "krippendorff_alpha"]
    found_figures = ledger.agreement(project, measures=measures, **asked)
    figures = {one.measure: one.value and round(one.value, 9) for one in found_figures.measures}
    rates = {found_figures.categories[one.category]: one.rate for one in found_figures.rates}
    return standing(ledger, project), None if asked else listed, figures, rates


@pytest.mark.parametrize(
    "options", [pytest.param(ONE, marks=exhaustive), SEVERAL], ids=["one", "several"]
)
def test_figures_are_as_if_the_answers_had_been_the_other(
    ledger: Ledger, write: Write, options: QuestionOptions
) -> None:
    for rows in FILES[:2]:
        ledger.import_file(write(rows), "p", options=options)
    ledger.snapshot("p")
    apart, before = seen(ledger), datetime.now(UTC)
    assert ledger.categories.merge("p", "Pos", " pos ").labels == 2
    for rows in FILES[:2]:
        ledger.import_file(write(rows.replace("Pos", "pos")), "merged", options=options)
    assert seen(ledger) == seen(ledger, "merged")
    assert seen(ledger, known_at=before)[2:] == apart[2:]
    last = ledger.import_file(write(FILES[2]), "p").id
    ledger.import_file(write(FILES[2].replace("Pos", "pos")), "merged")
    assert seen(ledger) == seen(ledger, "merged")
    merged, during = seen(ledger), datetime.now(UTC)
    assert ledger.categories.split("p", "Pos").whose == "pos"
    for rows in FILES:
        ledger.import_file(write(rows), "never", options=options)
    assert seen(ledger) == seen(ledger, "never")
    assert seen(ledger, known_at=during)[2:] == merged[2:]
    assert seen(ledger, known_at=before)[2:] == apart[2:]
    ledger.record_snapshot("p", check=True)
    assert ledger.verify("p").faults == ()
    undo(ledger, last)
    assert seen(ledger) == apart
    assert ledger.database.check() == []


def test_an_answer_that_held_both_holds_both_again(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,start,end\n"
    rows = "i,A,x,0,3\n i,A,X,0,3\n i,A,X,5,9\n i,B,x,0,3"
    ledger.import_file(write(header + rows), "p", options=SPANS)
    before = standing(ledger, "p", "annotator", "category", "start")
    ledger.categories.merge("p", "X", "x")
    assert standing(ledger, "p", "annotator", "category", "start") == [
        ("A", "x", 0),
        ("A", "x", 5),
        ("B", "x", 0),
    ]
    ledger.import_file(write(header + "j,A,x,0,3\n j,A,X,0,3"), "p")
    assert [row for row in standing(ledger) if row[0] == "j"] == [("j", "A", "x")]
    ledger.categories.split("p", "X")
    after = standing(ledger, "p", "item", "annotator", "category", "start")
    assert [row[1:] for row in after if row[0] == "i"] == before
    assert [row[2] for row in after if row[0] == "j"] == ["X", "x"]


def test_a_merged_name_in_a_closed_list_is_still_read(ledger: Ledger, write: Write) -> None:
    closed = QuestionOptions(categories=("a", "b", "c"))
    ledger.import_file(write("item,annotator,category\n i,A,a\n i,B,b"), "p", options=closed)
    ledger.categories.merge("p", "a", "b")
    done = ledger.import_file(write("item,annotator,category\n i,A,b\n j,A,a"), "p")
    assert fates(done) == {"unchanged": 1, "inserted": 1}
    ledger.categories.merge("p", "b", "c")
    with pytest.raises(InvalidOption, match="are one category"):
        ledger.categories.merge("p", "c", "c")
    assert {row[2] for row in standing(ledger)} == {"c"}
    with pytest.raises(InvalidOption, match=r"(?s)'b', of which 'a' is a part.*split p b"):
        ledger.categories.split("p", "a")
    ledger.categories.split("p", "b")
    ledger.categories.split("p", "a")
    assert {row[2] for row in standing(ledger)} == {"a", "b"}
