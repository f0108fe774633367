"""The language of the service: scopes, candidates, verdicts, facts, jobs, memories and the ports between floors.

Standard library only; every other floor may import this one.
"""
