"""Further columns of the views: the kind, whether a label stands, annotators, a snapshot's name."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.

MORE = {
    "v_answers": ("d.comment", "d.comment, a.kind AS kind, TRUE AS stands"),
    "v_item_votes": ("AS share", "AS share, count(DISTINCT l.annotator_id) AS annotators"),
    "v_measures": ("f.undefined", "f.undefined, s.name AS name"),
    "v_category_rates": ("f.specific_agreement", "f.specific_agreement, s.name AS name"),
}
"""What each view has behind its last column."""


def upgrade():
    # Replaced on Postgres, a view keeps who may read it.
    replaces = op.get_bind().dialect.name == "postgresql"
    for name, select in views_before().items():
        query = select.replace(*MORE[name])
        if replaces:
            op.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
        else:
            op.execute(f"DROP VIEW {name}")
            op.execute(f"CREATE VIEW {name} AS {query}")


def downgrade():
    for name, select in views_before().items():
        op.execute(f"DROP VIEW {name}")
        op.execute(f"CREATE VIEW {name} AS {select}")


def revision_at(name):
    """The module of a revision, whose views these were."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def views_before():
    """The SELECT of each of these views as the revision before left it."""
    fourth, fifth = revision_at("0004_questions"), revision_at("0005_of_annotators")
    third = fourth.revision_before()
    before = {name: fourth.VIEWS[name](third) for name in MORE}
    before["v_answers"] = before["v_answers"].replace(*fifth.MORE) + fifth.OF_DETAILS
    return before
