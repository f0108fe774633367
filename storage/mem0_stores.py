"""What stands in for mem0's parts while it infers: nothing of it writes, failures are kept instead of swallowed.

mem0 turns a failed embedding into a lost fact and a failed insert into a reported success (mem0 study,
section 4). Here every failure is remembered, so that the adapter can raise it once `add` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from admission.secrets import find_secret
from domain.candidate import JsonValue, Message, Role
from domain.errors import TransientError
from domain.facts import Fact, Vector
from domain.ports import AnswerParser, Embedder, ExtractionModel, ExtractionPrompt, MemoryIndex, Purpose
from domain.scope import Scope
from domain.text import canonical, ending


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A row as mem0 reads it from a vector store."""

    id: str
    score: float
    payload: dict[str, JsonValue]


@dataclass(slots=True)
class CapturingVectorStore:
    """Searches the live memories of one scope; keeps what mem0 would have inserted."""

    index: MemoryIndex
    scope: Scope
    captured: list[tuple[str, Vector, dict[str, JsonValue]]] = field(default_factory=list)
    failure: TransientError | None = None

    def search(self, *, vectors: Vector, top_k: int, filters: dict[str, str], **_query: str) -> list[StoredMemory]:
        """The memories nearest to the conversation; mem0 shows them to the model as what is known already."""
        if filters != {"user_id": self.scope.key}:
            raise ValueError("mem0 asked for another scope than the candidate's")
        try:
            near = self.index.nearest(self.scope, tuple(vectors), top_k)
        except TransientError as exc:
            self.failure = exc
            raise
        # Rows that are older than a rule, or that another program wrote, must not carry a secret into the prompt.
        shown = [memory for memory in near if not find_secret(memory.text)]
        return [StoredMemory(memory.id, memory.similarity, {"data": memory.text}) for memory in shown]

    def insert(self, vectors: Sequence[Vector], ids: Sequence[str], payloads: Sequence[dict[str, JsonValue]]) -> None:
        """Keep the rows; they become staged facts."""
        self.captured.extend(zip(ids, (tuple(vector) for vector in vectors), payloads, strict=True))


class SilentHistory:
    """mem0's history during inference: no past conversation comes in, and nothing is written."""

    def get_last_messages(self, session_scope: str, limit: int = 10) -> list[dict[str, Any]]:  # noqa: ARG002
        """Never any: each candidate is judged on its own."""
        return []

    def save_messages(self, messages: object, session_scope: str) -> None:
        """Keep nothing."""

    def batch_add_history(self, records: object) -> None:
        """History is written when a fact is published."""


@dataclass(slots=True)
class CanonicalModel:
    """mem0's language model: ours, with its answer parsed by us and handed on in mem0's own JSON."""

    model: ExtractionModel
    parse: AnswerParser
    to_json: Callable[[list[Fact]], str]
    conversation: tuple[Message, ...]
    facts: dict[str, Fact] = field(default_factory=dict)
    failure: TransientError | None = None

    def generate_response(self, messages: Sequence[dict[str, str]], **_options: object) -> str:
        """The canonical JSON of the model's answer; mem0 wraps what this raises."""
        system, user = messages[0]["content"], messages[1]["content"]
        try:
            facts = self.parse(self.model.answer(ExtractionPrompt(system, user, self.conversation)))
        except TransientError as exc:
            self.failure = exc
            raise
        # One statement has one text, so that it is known again however it is spaced or ended.
        self.facts = {}
        for fact in facts:
            text = canonical(fact.text)
            self.facts.setdefault(text, replace(fact, text=text))
        facts = list(self.facts.values())
        # mem0 strips code fences and <think> blocks from the answer; a fact may legitimately hold such characters.
        return self.to_json(facts).replace("<", "\\u003c").replace("`", "\\u0060")


@dataclass(slots=True)
class RememberingEmbedder:
    """mem0's embedding model: ours, with its first failure kept and no text longer than it can take.

    mem0 embeds a whole conversation to look up what is known. A long one is looked up by the end of what the user said.
    """

    embedder: Embedder
    max_chars: int
    conversation: tuple[Message, ...] = ()
    failure: TransientError | None = None

    def embed(self, text: str, memory_action: str | None = None) -> Vector:
        """One vector."""
        return self.embed_batch([text], memory_action)[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[Vector]:
        """A vector for each text. mem0 embeds a conversation for `search` and facts for `add`."""
        if self.failure is not None:
            # mem0 goes on with one call a fact; a model that failed once is not asked again.
            raise self.failure
        purpose = Purpose.QUERY if memory_action == "search" else Purpose.STORE
        try:
            return self.embedder.embed([self._fitting(text, purpose) for text in texts], purpose)
        except TransientError as exc:
            self.failure = exc
            raise

    def _fitting(self, text: str, purpose: Purpose) -> str:
        if len(text) <= self.max_chars:
            return text
        if purpose is Purpose.STORE:
            return text[: self.max_chars]
        said = "\n".join(message.content for message in self.conversation if message.role is Role.USER)
        return ending(said or text, self.max_chars)
