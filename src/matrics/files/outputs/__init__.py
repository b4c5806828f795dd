"""Files of results: written so that nothing is lost when a run stops, and a name appears only when its file is whole.

``formats`` turns tables into the bytes of a block, ``volume`` puts blocks one behind the other in a file, ``journal``
says which of them are finished, ``question`` what was asked, and ``unfinished`` has all of it in a folder beside the
output. ``snapshot`` is a file of that folder that is replaced now and then: what is counted of labels. ``whole`` is
for results that are made in one go.
"""
