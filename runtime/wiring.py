"""The only place where adapters meet ports. Every part is made on first use, so after a fork."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial

import structlog

from admission.secret_vendors import use_rules_of
from domain.errors import TransientError
from domain.jobs import Finish, Job, Outcome, Step, StepResult
from domain.ports import (
    Calibration,
    Embedder,
    Eraser,
    ExtractionModel,
    Extractor,
    JobDesk,
    JobLedger,
    JobStats,
    MemoryIndex,
    MemoryKeeper,
    MemoryListing,
    MemoryStore,
    TokenStore,
    UserSettingsStore,
)
from domain.retry import RetryPolicy
from llm.answers import canonical_json, parse_answer
from llm.local_embedder import LocalEmbedder
from llm.offline import OfflineModel
from llm.openai_client import OpenAIChatModel, OpenAIEmbedder
from llm.rules import extraction_rules, language_rule
from pipeline.admit import admit_step
from pipeline.cleanup import cleanup_step
from pipeline.extract import extract_step
from pipeline.grounding import Words
from pipeline.language import LanguageTools, check_language_step
from pipeline.manage import WRITING_OFF, ManageTools
from pipeline.relink import relink_step
from pipeline.runner import StepFunction
from pipeline.submit import SizeLimits
from pipeline.validate import validate_step
from pipeline.wording import WordingTools
from runtime.observed import ObservedEmbedder, ObservedLedger, ObservedModel, ObservedParser, observed_steps
from runtime.settings import Settings, load_settings, required_secret
from storage.calibrate import load_calibration
from storage.database import Database
from storage.desk import SqlJobDesk
from storage.forget import SqlEraser
from storage.keeper import SqlMemoryKeeper
from storage.ledger import LedgerTimes, OpenJobLimits, SqlJobLedger
from storage.listing import SqlMemoryListing
from storage.maintenance import Retention
from storage.mem0_adapter import Inference, Mem0Extractor
from storage.memories import SqlMemoryIndex
from storage.migrate import check_schema
from storage.scrub import SqlMemoryStore
from storage.stats import SqlJobStats
from storage.tokens import SqlTokens
from storage.user_settings import SqlUserSettings

log = structlog.get_logger(__name__)
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True)
class Services:
    """Everything a front door or a task needs, wired from the settings of one process."""

    settings: Settings

    def __post_init__(self) -> None:
        """Take over what the settings add to the rules of admission."""
        use_rules_of(self.settings.secret_rules)

    @cached_property
    def database(self) -> Database:
        """The database, not connected yet."""
        return Database(required_secret(self.settings, "database_url"), pool_size=self.settings.database_pool_size)

    @cached_property
    def ledger_times(self) -> LedgerTimes:
        """Lease and hand-off grace."""
        return LedgerTimes(lease=self.settings.lease_seconds, handoff=self.settings.handoff_seconds)

    @cached_property
    def retention(self) -> Retention:
        """How long things are kept."""
        settings = self.settings
        return Retention(settings.dead_payload_days, settings.job_days, settings.history_days)

    @cached_property
    def ledger(self) -> JobLedger:
        """The truth about every job."""
        limits = OpenJobLimits(self.settings.max_open_jobs_per_scope, self.settings.max_open_jobs)
        policy = RetryPolicy(self.settings.retry_delays)
        ledger = SqlJobLedger(self.database, policy=policy, times=self.ledger_times, limits=limits, stats=self.stats)
        return ObservedLedger(ledger)

    @cached_property
    def desk(self) -> JobDesk:
        """What operators do with jobs."""
        return SqlJobDesk(self.database)

    @cached_property
    def stats(self) -> JobStats:
        """The ledger in figures."""
        return SqlJobStats(self.database)

    @cached_property
    def tokens(self) -> TokenStore:
        """The service tokens that were made by command."""
        return SqlTokens(self.database)

    @cached_property
    def user_settings(self) -> UserSettingsStore:
        """The users' switches."""
        return SqlUserSettings(self.database)

    @cached_property
    def index(self) -> MemoryIndex:
        """The published memories."""
        return SqlMemoryIndex(self.database)

    @cached_property
    def store(self) -> MemoryStore:
        """Every stored memory, for maintenance."""
        return SqlMemoryStore(self.database)

    @cached_property
    def keeper(self) -> MemoryKeeper:
        """Changes of single memories."""
        return SqlMemoryKeeper(self.database)

    @cached_property
    def listing(self) -> MemoryListing:
        """A user's memories to look at."""
        return SqlMemoryListing(self.database)

    @cached_property
    def manage_tools(self) -> ManageTools:
        """What it takes to change memories on purpose."""
        from nlp.entities import recognise
        from nlp.language import identify
        from nlp.segment import terms

        return ManageTools(
            keeper=self.keeper,
            eraser=self.eraser,
            wording=WordingTools(self.embedder, recognise, terms),
            identify=identify,
            user_settings=self.user_settings,
            is_writing_on=self.settings.memory_write_enabled,
            max_chars=self.settings.fact_max_chars,
            max_metadata_bytes=self.settings.max_metadata_bytes,
        )

    @cached_property
    def eraser(self) -> Eraser:
        """Forgetting for good."""
        return SqlEraser(self.database)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model, local or remote."""
        settings = self.settings
        if settings.embedding_is_local:
            return ObservedEmbedder(LocalEmbedder())
        remote = OpenAIEmbedder(
            base_url=settings.embedding_base_url or "",
            api_key=settings.embedding_api_key.get_secret_value() if settings.embedding_api_key else None,
            model=settings.embedding_model,
            dims=settings.dims,
            timeout=settings.embedding_timeout_seconds,
        )
        return ObservedEmbedder(remote)

    @cached_property
    def calibration(self) -> Calibration:
        """The map from the embedding model's cosine to the common score."""
        return load_calibration(self.settings.embedding_model, self.settings.embedding_calibration)

    @cached_property
    def model(self) -> ExtractionModel:
        """The extraction model, offline or remote."""
        settings = self.settings
        if settings.llm_is_offline:
            return ObservedModel(OfflineModel())
        remote = OpenAIChatModel(
            base_url=settings.llm_base_url or "",
            api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
            model=settings.llm_model,
            timeout=settings.llm_timeout_seconds,
            max_tokens=settings.llm_max_tokens,
            temperature=settings.llm_temperature,
        )
        return ObservedModel(remote)

    @cached_property
    def extractor(self) -> Extractor:
        """mem0, with every part that touches the outside replaced by ours."""
        inference = Inference(
            model=self.model,
            parse=ObservedParser(parse_answer),
            to_json=canonical_json,
            rules=extraction_rules,
            language_rule=language_rule,
            embedder=self.embedder,
            index=self.index,
        )
        home, limit = self.settings.home.absolute(), self.settings.embedding_max_chars
        return Mem0Extractor(inference, mem0_dir=home / "mem0", embedding_max_chars=limit)

    @cached_property
    def steps(self) -> Mapping[Step, StepFunction]:
        """The chain's steps with their ports filled in."""
        from nlp.entities import recognise
        from nlp.segment import terms

        language = partial(check_language_step, extractor=self.extractor, tools=language_tools())
        steps: dict[Step, StepFunction] = {
            Step.ADMIT: admit_step,
            Step.EXTRACT: partial(extract_step, extractor=self.extractor),
            Step.CHECK_LANGUAGE: language,
            Step.VALIDATE: partial(validate_step, max_chars=self.settings.fact_max_chars, words=grounding_words()),
            Step.RELINK: partial(relink_step, recognise=recognise, segment=terms, embedder=self.embedder),
            Step.CLEANUP: cleanup_step,
        }
        if not self.settings.memory_write_enabled:
            steps = dict.fromkeys(steps, _write_nothing)
        return observed_steps(steps)

    @cached_property
    def size_limits(self) -> SizeLimits:
        """How large a candidate may be."""
        return SizeLimits(
            message=self.settings.max_message_bytes,
            candidate=self.settings.max_candidate_bytes,
            metadata=self.settings.max_metadata_bytes,
        )

    def check(self) -> None:
        """Refuse to start on a database that is not ours, not migrated, or made for another embedding model.

        Raises:
            ConfigurationError: with a sentence that says what to do.
            TransientError: when the database cannot be reached.
        """
        settings = self.settings
        check_schema(self.database, embedding_model=settings.embedding_model, dims=settings.dims)
        _ = self.calibration


def wait_for_database(services: Services, is_stopped: Callable[[float], bool]) -> bool:
    """Check the database, and while it does not answer try again each second; a process may start before it is up.

    `is_stopped` waits so many seconds and says whether to give up. False when it did.

    Raises:
        ConfigurationError: the database does not fit the settings.
    """
    while True:
        try:
            services.check()
        except TransientError as exc:
            log.warning("memory_waiting_for_database", error=exc.detail)
            if is_stopped(_PAUSE_SECONDS):
                return False
        else:
            return True


def _write_nothing(_: Job) -> StepResult:
    return Finish(Outcome.MEMORY_OFF, reason=WRITING_OFF)


def language_tools() -> LanguageTools:
    """The language check's tools, which need no settings."""
    from nlp.content import claimed_names, translated_words
    from nlp.language import identify

    return LanguageTools(identify=identify, names=claimed_names, translated=translated_words)


def grounding_words() -> Words:
    """Grounding's tools, which need no settings."""
    from nlp.content import claimed_names, content_words

    return Words(content=content_words, names=claimed_names)


@cache
def process_services() -> Services:
    """The services of this process, from its environment; made once."""
    return Services(load_settings())
