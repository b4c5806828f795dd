"""Files of results: nothing is lost when a run stops, and a file gets its name only when it is whole.

``destination`` is the name that an output is to have, ``question`` what the run computes, ``unfinished`` the folder
next to the output in which it is made, ``sealed`` the files in that folder, ``writers`` the formats, and ``whole`` the
results that are made in one go.
"""
