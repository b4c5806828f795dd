"""Files of results: nothing is lost when a run stops, and a file gets its name only when it is whole.

``destination`` is the name of an output, ``question`` describes the computation, ``unfinished`` is the folder
next to the output in which it is made, ``sealed`` the files in that folder, ``writers`` the formats, and ``whole`` the
results that are made in one go.
"""
