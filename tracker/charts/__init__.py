"""Figures as charts: what Vega-Lite draws of them, and the same in words and rows."""

from tracker.charts.annotators import annotators_chart
from tracker.charts.categories import categories_chart
from tracker.charts.chart import Chart
from tracker.charts.history import history_chart
from tracker.charts.pairs import pairs_chart

__all__ = ["Chart", "annotators_chart", "categories_chart", "history_chart", "pairs_chart"]
