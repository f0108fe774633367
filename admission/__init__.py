"""Deterministic rules for what is handed in: refuse, cut, tidy. Pure functions, no I/O, no model.

Nothing here weighs whether something is worth remembering (Poco note, section 4.1).
"""
