"""Files of results: a file gets its name only when it is complete.

``destination`` checks the name of an output, ``writers`` has the formats of tables, ``texts`` JSON and CSV, and
``whole`` writes an output to a hidden file first.
"""
