"""The queries that yield tallies: the database counts, Python decodes.

Statements are written once for both databases, and their number does not depend on the data.
A statement turns an item's answers into one *code* that does not depend on their order.
Grouping by the code gives the item patterns. A code means nothing outside its statement.
"""
