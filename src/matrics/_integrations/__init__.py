"""Matrics inside other libraries; import each module explicitly, as it needs its library."""
