"""Matrics inside other libraries; each module is imported by name, and needs its library."""
