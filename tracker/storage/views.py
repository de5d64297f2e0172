"""The views for people and their tools; docs/views.md says what they show.

Their SQL is the migrations'. The program itself reads none of them.
"""

__all__ = ["VIEWS"]

VIEWS = (
    "v_answers",
    "v_category_rates",
    "v_findings",
    "v_imports",
    "v_item_votes",
    "v_measures",
)
"""Every view of the schema, by name."""
