"""Breaks a scratch stack on purpose and shows that no accepted candidate is lost or has its effect twice.

Everything here looks at the service from outside: its processes, its HTTP API and its tables, in SQL of its own, so
that a fault of the storage code cannot hide from it.
"""
