"""Files of results: a file gets its name only when it is whole.

``destination`` is the name of an output, ``writers`` the formats, ``texts`` JSON and CSV, and ``whole`` makes an output
under another name next to it.
"""
