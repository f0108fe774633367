"""The steps' logic as plain functions over the ports of `domain`; no framework, no I/O of its own.

Each step takes a claimed Job and returns what it changed; the ledger stores that and moves the pointer in one
transaction, so running a step again starts from the same state.
"""
