"""Finds the names a text mentions: what makes "the Poco project" findable through "Poco".

Quoted names come first and are taken out, so that no other entity can contain one. A name is short and is only a
name: sentences, fragments of them and words for the user never become entities.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from domain.facts import Entity, EntityType
from domain.text import HAN, LATIN_WORD, han_count, storable
from nlp import models
from nlp.function_words import FUNCTION_WORDS
from nlp.language import identify
from nlp.names import DOUBLE_SURNAMES, NOT_NAMES, PERSON_TITLES, SURNAMES

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_MAX_CHARS = 4000
_MAX_ENTITIES = 24
_MAX_HAN = 12
_MAX_WORDS = 5
_MAX_NAME_CHARS = 40

_NOISE = re.compile(
    r"```.*?(?:```|\Z)|\b[a-z][a-z0-9+.-]*://[!-~]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[A-Za-z]:|~|\.{1,2}|\b[\w.-]+)?(?:[/\\][\w.+-]+){2,}",
    re.DOTALL | re.ASCII,
)
_QUOTED = re.compile(
    r'"([^"\n]+)"|“([^“”\n]+)”|(?<!\w)‘([^‘’\n]+)’(?!\w)|「([^「」\n]+)」|『([^『』\n]+)』|《([^《》\n]+)》|`([^`\n]+)`'
    r"|(?<![\w'])'([^'\n]+)'(?![\w'])"
)
_SENTENCE_MARK = re.compile(r"[，。！？；：、…,;!?\n]|[.:](?:\s|$)")
# Words that join a clause together; a long quotation with one of them is speech, not a name.
_CLAUSE_TAGS = frozenset(("r", "p", "c", "d", "ul", "uz", "ug", "y", "e"))
_LATIN_STRETCH = re.compile(
    r"[^\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3，。！？；：、（）【】“”]+"
)
_LATIN_TOKEN = re.compile(r"[^\W\d_][\w]*(?:[.-]\w+)*[+#]*", re.ASCII)
_IDENTIFIER = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|_\w|[A-Za-z]-?\d|[+#]$|\w\.[A-Za-z]|^[A-Z]{2,6}$", re.ASCII)
_VERSION = re.compile(r"v?\d+(?:[.\d]*)\w{0,2}", re.IGNORECASE | re.ASCII)
_NAMED = re.compile(r"(?:名叫|叫做|名为|名字是|姓名是|叫)([\u4e00-\u9fff]{2,4})(?=[，。；,.;\s]|$)")
_ADDRESSED = re.compile(f"[老小阿][{SURNAMES}]|[{SURNAMES}](?:{PERSON_TITLES})")
_FOLLOWS_NAME = frozenset("和与跟说的")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_ENTITY_LABELS = frozenset(("PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "LAW"))
_SENTENCE_ENDS = frozenset('.!?:;-*•"“')
_BEGINS_WITH_USER = re.compile(r"\s*User\s")
_EDGE = re.compile(
    r"^(?:the|a|an|professor|prof\.?|doctor|dr\.?|mrs?\.?|ms\.?)\s+|(?:'s|’s)$|[\s.,:;-]+$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    text: str
    type: EntityType


def recognise(text: str) -> list[Entity]:
    """The named things a text mentions, in reading order, each once; vectors are left empty.

    Names are compared without case and width. At most 24 entities of the first 4000 characters.
    """
    return list(_recognised(storable(text)[:_MAX_CHARS]))


# Three steps of the chain ask about the same fact.
@lru_cache(maxsize=256)
def _recognised(text: str) -> tuple[Entity, ...]:
    text = _NOISE.sub(_blank, text)
    quoted = list(_quoted(text))
    rest = _QUOTED.sub(lambda found: _blank(found) if _quoted_name(found) else found[0], text)
    mentions = sorted([*quoted, *_chinese(rest), *_latin(rest)], key=lambda mention: mention.start)
    first: dict[str, Entity] = {}
    for mention in mentions:
        if _is_name(mention.text):
            first.setdefault(_key(mention.text), Entity(mention.text, mention.type))
    return tuple(first.values())[:_MAX_ENTITIES]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _is_name(name: str) -> bool:
    key = _key(name)
    return (
        len(key) >= 2
        and len(key) <= _MAX_NAME_CHARS
        and key not in NOT_NAMES
        and not _VERSION.fullmatch(key)
        and any(character.isalpha() for character in key)
        and not key.startswith(("用户", "user "))
    )


def _quoted(text: str) -> Iterator[_Mention]:
    for found in _QUOTED.finditer(text):
        if name := _quoted_name(found):
            kind = EntityType.IDENTIFIER if found[0][0] == "`" else EntityType.QUOTED
            yield _Mention(found.start(), name, kind)


def _quoted_name(found: re.Match[str]) -> str | None:
    name = next(group for group in found.groups() if group is not None).strip()
    return None if _is_sentence(name) else name


def _is_sentence(name: str) -> bool:
    han = han_count(name)
    if _SENTENCE_MARK.search(name) or han > _MAX_HAN or len(LATIN_WORD.findall(name)) > _MAX_WORDS:
        return True
    return han > 5 and any(tag in _CLAUSE_TAGS for _, tag in models.jieba().tag(name))


def _chinese(text: str) -> Iterator[_Mention]:
    if not HAN.search(text) or identify(text) in ("ja", "ko"):
        return
    words = list(_tagged(text))
    for start, word, tag in words:
        if tag.startswith(_NAME_TAGS) and han_count(word) >= 2 and _trusted(word, tag):
            yield _Mention(start, word, EntityType.PROPER)
    ends = {start + len(word) for start, word, _ in words}
    people = {word for _, word, tag in words if tag.startswith("nr")}
    for found in (*_ADDRESSED.finditer(text), *_NAMED.finditer(text)):
        name = found[found.lastindex or 0]
        whole = found.end() in ends or text[found.end() : found.end() + 1] in _FOLLOWS_NAME
        familiar = found.re is _ADDRESSED and name[0] in "老小阿"
        # A dictionary word is what it says: 叫停止 is no one called 停止.
        if whole and (familiar or name in people or not models.jieba().has_word(name)):
            yield _Mention(found.end() - len(name), name, EntityType.PROPER)


def _tagged(text: str) -> Iterator[tuple[int, str, str]]:
    start, known = 0, models.dictionary()
    for word, tag in models.jieba().tag(text):
        # A word that the segmenter knew before keeps its old tag there, whatever the dictionary says.
        yield start, word, known.get(word, tag)
        start += len(word)


def _trusted(word: str, tag: str) -> bool:
    """Whether a name tag holds; the segmenter gives `nr` and `nz` to many ordinary words too."""
    if own := models.dictionary().get(word):
        return own in _NAME_TAGS
    match tag:
        case "nr" | "nrfg":
            return (len(word) <= 3 and word[0] in SURNAMES) or (len(word) <= 4 and word[:2] in DOUBLE_SURNAMES)
        case "nrt":
            return len(word) >= 3 and models.jieba().has_word(word)
        case _:
            return tag in ("ns", "nt") and models.jieba().has_word(word)


def _latin(text: str) -> Iterator[_Mention]:
    language = identify(text)
    borrowed = bool(HAN.search(text)) and language != "en"
    for stretch in _LATIN_STRETCH.finditer(text):
        if stretch[0].strip():
            names = _borrowed(stretch[0]) if borrowed else _in_prose(stretch[0], language)
            yield from (_Mention(stretch.start() + start, name, _latin_type(name)) for start, name in names)


def _latin_type(name: str) -> EntityType:
    return EntityType.IDENTIFIER if any(map(_is_technical, name.split())) else EntityType.PROPER


def _borrowed(stretch: str) -> Iterator[tuple[int, str]]:
    """Names inside Chinese text: there, a capital letter alone says that a word is one."""
    return _joined(stretch, [found for found in _LATIN_TOKEN.finditer(stretch) if _is_named(found[0])])


def _in_prose(stretch: str, language: str | None) -> Iterator[tuple[int, str]]:
    """Names inside text of an alphabet: what the pipeline labels, and capital letters inside a sentence."""
    if not _may_name(stretch):
        return
    doc = models.analyse(stretch, models.NAMES)
    openings = _doubtful_openings(stretch, doc)
    labelled = list(_labelled(doc, language, openings))
    taken = {position for start, name in labelled for position in range(start, start + len(name))}
    free = (found for found in _LATIN_TOKEN.finditer(stretch) if found.start() not in taken)
    # German writes every noun with a capital.
    named = (found for found in free if _is_technical(found[0]) or (language != "de" and _is_named(found[0])))
    yield from labelled
    yield from _joined(stretch, [found for found in named if found.start() not in openings or _is_technical(found[0])])


def _labelled(doc: Doc, language: str | None, openings: Container[int]) -> Iterator[tuple[int, str]]:
    for entity in doc.ents:
        name = _trim(entity.text, language)
        start = entity.start_char + entity.text.find(name)
        doubtful = " " not in name and start in openings and entity.label_ != "PERSON"
        if entity.label_ in _ENTITY_LABELS and any(map(str.isupper, name)) and not _is_ordinary(name) and not doubtful:
            yield start, name


def _may_name(stretch: str) -> bool:
    """Whether there is a capital letter beside that of "User ...", as facts begin, or a technical word."""
    rest = stretch[found.end() :] if (found := _BEGINS_WITH_USER.match(stretch)) else stretch
    return any(map(str.isupper, rest)) or any(_is_technical(word) for word in _LATIN_TOKEN.findall(rest))


def _doubtful_openings(stretch: str, doc: Doc) -> set[int]:
    """Where a sentence opens with a word that is hardly a name; only rare words have to be tagged to know."""
    openings = [token for token in doc if token.is_alpha and _opens(token)]
    rare = {token.idx for token in openings if not token.is_lower and not models.is_common_word(token.lower_)}
    names = {token.idx for token in models.analyse(stretch, models.TAGS) if token.tag_ == "NNP"} if rare else set()
    return {token.idx for token in openings} - (rare & names)


def _opens(token: Token) -> bool:
    return token.i == 0 or token.nbor(-1).text in _SENTENCE_ENDS or "\n" in token.nbor(-1).text


def _joined(stretch: str, tokens: Iterable[re.Match[str]]) -> Iterator[tuple[int, str]]:
    """Neighbouring tokens as one name, as in Docker Compose."""
    start, end = -1, -1
    for token in tokens:
        if start >= 0 and stretch[end : token.start()] == " ":
            end = token.end()
            continue
        if start >= 0:
            yield start, stretch[start:end]
        start, end = token.start(), token.end()
    if start >= 0:
        yield start, stretch[start:end]


def _is_named(word: str) -> bool:
    return _is_technical(word) or (word[0].isupper() and len(word) > 1 and not _is_ordinary(word))


def _is_technical(word: str) -> bool:
    known = bool(_IDENTIFIER.search(word)) or models.dictionary().get(word.lower()) == "tech"
    return known and not _VERSION.fullmatch(word)


def _is_ordinary(word: str) -> bool:
    return word.lower() in NOT_NAMES or word.lower() in models.stop_words("en")


def _trim(name: str, language: str | None) -> str:
    while (shorter := _EDGE.sub("", name)) != name:
        name = shorter
    words = name.split(" ")
    while len(words) > 1 and words[0].lower() in FUNCTION_WORDS.get(language or "en", ()):
        words.pop(0)
    return " ".join(words)
