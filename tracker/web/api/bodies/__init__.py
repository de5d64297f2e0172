"""What the interface answers with, described: the JSON of the commands.

The classes are for the description alone; what is answered is made where the commands have it
from. Fields may be added to any of them.
"""
