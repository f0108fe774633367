"""The sample candidates of `poco-memory demo`, each with what should become of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """A candidate: what user and assistant said, and the expected outcome, with its reason where one belongs to it."""

    title: str
    user: str
    assistant: str | None
    outcome: str
    reason: str | None = None
    kind: str = "task_completed"


@dataclass(frozen=True, slots=True)
class Question:
    """A search, and a word that must be in one of its hits."""

    query: str
    finds: str


def samples() -> tuple[Sample, ...]:
    """About what an agent hears in a week, in Chinese and English."""
    return (
        Sample(
            "preference (zh)",
            "我最喜欢喝拿铁咖啡，不加糖。以后推荐饮品的时候请按这个来。",
            "好的，已记下：您最喜欢拿铁咖啡，不加糖。",
            "published",
        ),
        Sample(
            "preference (en)",
            "I always prefer pytest over unittest, and I like short functions.",
            "Understood, I will write the tests with pytest and keep functions short.",
            "published",
        ),
        Sample(
            "identity (zh)",
            "我叫王小明，在杭州做后端开发工程师。",
            "你好，王小明，很高兴认识你。",
            "published",
        ),
        Sample(
            "identity (en)",
            "My name is Dana Keller and I work as a data engineer in Lisbon.",
            "Nice to meet you, Dana.",
            "published",
        ),
        Sample(
            "project decision",
            'We decided to use PostgreSQL for the project "Blue Heron" instead of MongoDB.',
            "Noted: the project Blue Heron uses PostgreSQL.",
            "published",
        ),
        Sample(
            "standing rule (zh)",
            "以后所有代码注释都必须用中文写。",
            "明白，之后的代码注释都用中文。",
            "published",
        ),
        Sample(
            "one-off request (zh)",
            "帮我把这段话翻译成英文。",
            "好的，翻译如下：The weather is nice today.",
            "no_effect",
        ),
        Sample(
            "one-off request (en)",
            "Please rename this variable to total_count.",
            "Done, the variable is now called total_count.",
            "no_effect",
        ),
        Sample(
            "with a stack trace",
            "I prefer dark mode in every editor.\n" + _stack_trace(),
            "I set the editor to dark mode. The crash came from a missing key.",
            "published",
        ),
        Sample(
            "with a secret",
            f"I always deploy with this key: {_secret()}",
            "I will not keep that key.",
            "rejected",
            "credential",
        ),
        Sample(
            "session snapshot",
            "I prefer tea in the morning.",
            "Noted.",
            "rejected",
            "session_snapshot",
            kind="pre_compact",
        ),
        Sample("no answer", "I like long walks on Sundays.", None, "rejected", "missing_assistant"),
    )


QUESTIONS = (
    Question("用户喜欢喝什么咖啡？", "拿铁"),
    Question("Which test framework does the user like?", "pytest"),
    Question('Which database does the project "Blue Heron" use?', "PostgreSQL"),
)


def _secret() -> str:
    """Looks like a key of a model provider, and is none."""
    return "sk-" + "a1B2c3D4" * 5


def _stack_trace() -> str:
    frame = '  File "/srv/app/handlers.py", line {}, in {}\n    {}\n'
    frames = frame.format(41, "handle", "return render(order)") + frame.format(12, "render", 'return order["total"]')
    return f"Traceback (most recent call last):\n{frames}KeyError: 'total'\n"
