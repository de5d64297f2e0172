"""Figures as charts: what Vega-Lite draws of them, and the same in words and rows.

A function named for what it shows takes a result; one that draws takes its rows.
"""

from tracker.charts.annotators import annotators_chart, draw_annotators
from tracker.charts.categories import (
    categories_chart,
    category_rows,
    draw_categories,
    questions_of_numbers,
)
from tracker.charts.chart import Chart
from tracker.charts.history import draw_history, history_chart, history_rows
from tracker.charts.models import draw_model_categories, draw_models
from tracker.charts.pairs import draw_pairs, pair_rows, pairs_chart

__all__ = [
    "Chart",
    "annotators_chart",
    "categories_chart",
    "category_rows",
    "draw_annotators",
    "draw_categories",
    "draw_history",
    "draw_model_categories",
    "draw_models",
    "draw_pairs",
    "history_chart",
    "history_rows",
    "pair_rows",
    "pairs_chart",
    "questions_of_numbers",
]
