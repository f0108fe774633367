"""The only floor that knows SQLAlchemy and mem0: tables, ledger, outbox, memories, history and the mem0 adapter.

Table rows never leave this package; every other floor sees `domain` values.
"""
