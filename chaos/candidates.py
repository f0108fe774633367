"""The candidates of a run. Key and marker name kind, number and user: whoever sees one knows what must become of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

TENANT = "chaos"
PROJECTS = ("Blue Heron", "Red Maple", "Green Lantern", "White Harbour", "Grey Falcon", "Black Cedar")
_MARKER = re.compile(r"\[((good|slow|rejected|empty|failing|poison)-(\d+)-u(\d+))\]")
_ALPHABET = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789"


class Kind(StrEnum):
    """What a candidate is made for."""

    GOOD = "good"
    SLOW = "slow"
    REJECTED = "rejected"
    EMPTY = "empty"
    FAILING = "failing"
    POISON = "poison"


PUBLISHED_KINDS = (Kind.GOOD, Kind.SLOW)


@dataclass(frozen=True, slots=True)
class Marker:
    """What a key says: `number` counts the run's candidates, `user` is the place of the user's project."""

    key: str
    kind: Kind
    number: int
    user: int

    @property
    def scope(self) -> str:
        """The ledger's name of the user."""
        return f"{TENANT}:u{self.user}"

    @property
    def fact(self) -> str:
        """The one fact the model finds in this candidate; no other candidate has it."""
        return f'User wants report {self.number} of the project "{PROJECTS[self.user]}" on paper'


@dataclass(frozen=True, slots=True)
class MadeCandidate:
    """A candidate to submit."""

    marker: Marker
    text: str = field(repr=False)

    def body(self) -> dict[str, object]:
        """The request that hands it in, its key as idempotency key."""
        return {
            "tenant_id": TENANT,
            "user_id": f"u{self.marker.user}",
            "idempotency_key": self.marker.key,
            "messages": [{"role": "user", "content": self.text}, {"role": "assistant", "content": "Understood."}],
        }


def find_marker(text: str) -> Marker | None:
    """The first marker in a text, or None."""
    found = _MARKER.search(text)
    return Marker(found[1], Kind(found[2]), int(found[3]), int(found[4])) if found else None


def marker_of_key(key: str) -> Marker:
    """The marker of an idempotency key.

    Raises:
        ValueError: the key is none of ours.
    """
    marker = find_marker(f"[{key}]")
    if marker is None:
        raise ValueError(f"{key} is no key of a chaos run")
    return marker


def make_candidate(kind: Kind, number: int, random: Random) -> MadeCandidate:
    """A candidate of that kind for a random user; the secret in a rejected one is made up here."""
    user = random.randrange(len(PROJECTS))
    marker = Marker(f"{kind}-{number}-u{user}", kind, number, user)
    wish = f'[{marker.key}] From now on I want report {number} of the project "{PROJECTS[user]}" on paper.'
    if kind is Kind.REJECTED:
        secret = "".join(random.choices(_ALPHABET, k=40))
        wish += " Use the key " + "sk" + f"-{secret} for it."
    return MadeCandidate(marker, wish)
