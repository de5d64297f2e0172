"""How Alembic reaches the database: the connection it is handed, or alembic.ini's URL."""

from alembic import context

from tracker.storage import backends
from tracker.storage.database import HEAD
from tracker.storage.schema import Base
from tracker.storage.views import write_comments


def migrate(opened):
    # Two programs may find an empty database at once: the second waits, and finds it migrated.
    # SQLite drops a table that others refer to, to make it anew, only if it need not look.
    backend = backends.backend_of(opened)
    connection = backend.writing(opened, bulk=True, wait=None)
    backend.hold_migrations(connection)
    backend.make_schema(connection)
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,  # SQLite alters a table by copying it
        transactional_ddl=True,
        include_object=lambda element, _name, kind, *_: (
            kind != "foreign_key_constraint" or backend.is_declared(element)
        ),
    )
    with context.begin_transaction():
        before = context.get_context().get_current_revision()
        context.run_migrations()
        if before != HEAD == context.get_context().get_current_revision():
            write_comments(connection)
    connection.commit()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    url = backends.parse_database_url(context.config.get_main_option("sqlalchemy.url"))
    with backends.backend_of_url(url).engine(url).connect() as made:
        migrate(made)
