"""Which piece of an answer is the query: one function, from most to least explicit."""

import json
import re
from dataclasses import dataclass

from qeval.extraction.bare import (
    Piece,
    find_bare,
    find_inline,
    query_end,
    starts_like_query,
)
from qeval.extraction.fences import Block, find_blocks, is_closing_stray
from qeval.languages.base import Language

_TRUNCATED = frozenset({"length", "max_tokens"})


@dataclass(frozen=True, slots=True)
class Extraction:
    """The query found in an answer, or None.

    `rule` names the rule that found it (see docs/extraction.md); `reason` says why there is none,
    or what was left aside.
    """

    query: str | None
    rule: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is left after reasoning, the language asked for, and whether a limit cut the text."""

    text: str
    language: Language
    truncated: bool


_REASONING = re.compile(
    r"</(think|thinking|thought|reasoning|scratchpad)>|\[/THINK\]|◁/think▷"
    r"|<\|channel\|>\s*final\s*(?:<\|message\|>)?",
    re.IGNORECASE,
)
_OPEN_REASONING = re.compile(
    r"^\s*(?:<(think|thinking|thought|reasoning|scratchpad)>|\[THINK\]|◁think▷"
    r"|<\|channel\|>\s*analysis)",
    re.IGNORECASE,
)
_TAGGED = r"<({names})>(.*?)(</\1>|\Z)"
_JSON_KEYS = ("query", "final_query", "answer")
_REFUSAL = re.compile(
    r"\b(i(?:'|’)?m sorry|i am sorry|i apologi[sz]e|i can(?:'|’)?t|i cannot|i(?:'|’)?m unable"
    r"|i am unable|as an ai|not able to|unable to (?:help|answer|write|provide))\b"
    r"|抱歉|无法(?:回答|提供|生成)|对不起",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(final|correct(?:ed|ion)?|fix(?:ed)?|revised|rewritten|rewrite|improved|instead|actually"
    r"|wait|hmm|oops|mistake|let(?: me|'s) (?:use|try|adjust|redo)"
    r"|put(?:ting)? (?:it|this|everything) (?:all )?together|(?:complete|full) query)\b"
    r"|最终|修正|更正|改正|完整的?查询",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(alternativ\w*|another (?:way|option|approach|version|possibility)|variants?"
    r"|(?:can|could|may|might) also|or,? (?:if|with|using|simply)|if your?|if ties"
    r"|equivalent(?:ly)?|you may (?:want|prefer)|for (?:comparison|reference|older)"
    r"|explanation|explained|break(?:s|ing)? (?:it|this) down|breakdown|how (?:it|this) works"
    r"|(?:sample|example|expected) (?:output|result))\b"
    r"|或者|另一种|也可以|如果|等价|解释|说明",
    re.IGNORECASE,
)
_FINAL_LABEL = re.compile(
    r"\bfinal (?:answer|query|sql|cypher|typeql)\b[^\w\n]*[:：]|最终(?:答案|查询)[^\w\n]*[:：]",
    re.IGNORECASE,
)
_RUN_ON = re.compile(
    r"^\W*(question|q|user|human|input|问题|用户)\s*\d*\W*[:：]|<\|im_start\|>|\[INST\]",
    re.IGNORECASE | re.MULTILINE,
)


def extract(text: str, language: Language, finish_reason: str = "stop") -> Extraction:
    """Cut the query out of a model's answer.

    The result's `query` is a stripped substring of `text` (unescaped where it was a JSON string),
    or None for refusals, empty and truncated answers and answers that hold no query.
    `finish_reason` is the API's: a query that the token limit or a content filter cut off is not
    one.
    """
    filtered = finish_reason.lower() == "content_filter"
    truncated = filtered or finish_reason.lower() in _TRUNCATED
    answer, thinking = _after_reasoning(text)
    given = _Answer(answer, language, truncated)
    rules = (_from_json, _from_tags, _from_fences, _from_bare, _from_inline)
    found = next(filter(None, (rule(given) for rule in rules if answer.strip())), None)
    if found is None:
        said = answer if answer.strip() else text
        found = _nothing(said, truncated=truncated, thinking=thinking)
    return _FILTERED if filtered and found.query is None else found


_FILTERED = Extraction(None, "filtered", "the provider's content filter stopped the answer")


def _after_reasoning(text: str) -> tuple[str, bool]:
    """What follows the last end of a reasoning section; whether one never ended."""
    text = text.lstrip("\ufeff")
    ends = list(_REASONING.finditer(text))
    if ends:
        return text[ends[-1].end() :], False
    if _OPEN_REASONING.match(text):
        return "", True
    return text, False


def _nothing(text: str, *, truncated: bool, thinking: bool) -> Extraction:
    if truncated:
        part = "reasoning" if thinking else "answer"
        return Extraction(None, "truncated", f"the token limit cut the {part} off")
    if thinking:
        return Extraction(None, "no_query", "the answer is an unfinished reasoning section")
    if not text.strip():
        return Extraction(None, "empty", "the answer is empty")
    if _REFUSAL.search(text):
        return Extraction(None, "refusal", "the model declined to answer")
    return Extraction(None, "no_query", "the answer holds no query")


def _cut(query: str, rule: str, reason: str = "") -> Extraction:
    query = query.strip()
    if not query:
        return Extraction(None, "empty", "the place for the query is empty")
    return Extraction(query, rule, reason)


def _from_json(given: _Answer) -> Extraction | None:
    """An answer that is a JSON object with a query in it, alone or in one fence."""
    text = given.text.strip()
    if not text.startswith("{"):
        blocks = [b for b in find_blocks(given.text) if b.tag in ("json", "jsonc", "")]
        text = blocks[0].text.strip() if len(blocks) == 1 else ""
        if not text.startswith("{"):
            return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except ValueError:
        keys = "|".join(map(re.escape, (*_JSON_KEYS, given.language.name)))
        if given.truncated and re.match(rf'\{{\s*"(?:{keys})"', text):
            return Extraction(None, "truncated", "the token limit cut the answer off")
        return None
    for key in (given.language.name, *_JSON_KEYS, *given.language.fences):
        if isinstance(value, dict) and key in value:
            query = value[key]
            if not isinstance(query, str):
                return Extraction(None, "empty", f"the JSON answer's {key!r} holds no text")
            return _cut(query, "json")
    return None


def _from_tags(given: _Answer) -> Extraction | None:
    """The last `<query>…</query>` (or `<sql>`, `<answer>` …); its inside may hold a fence."""
    names = "|".join(
        map(re.escape, dict.fromkeys(("query", "answer", "final_answer", given.language.name)))
    )
    outside = list(re.finditer(_TAGGED.format(names=names), given.text, re.DOTALL | re.IGNORECASE))
    if not outside:
        return None
    last = outside[-1]
    if not last[3] and given.truncated:
        return Extraction(None, "truncated", "the token limit cut the answer off")
    inner = _from_fences(_Answer(last[2], given.language, truncated=False))
    if inner is not None or starts_like_query(last[2], given.language):
        return inner or _cut(last[2], "tagged")
    found = find_bare(last[2], given.language)
    if found is not None:
        return _cut(last[2][found.start : found.end], "tagged")
    return _cut(last[2], "tagged") if last[1].lower() in ("query", given.language.name) else None


def _from_fences(given: _Answer) -> Extraction | None:
    """The final one of the answer's code blocks; see docs/extraction.md for what is final."""
    blocks = find_blocks(given.text)
    if not blocks or is_closing_stray(given.text, blocks, given.language):
        return None
    kind, chosen = _best(blocks, given.language)
    if not chosen:
        return None
    final, number = _final(given.text, chosen)
    if given.truncated and not final.closed:
        return Extraction(None, "truncated", "the token limit cut the code block off")
    if kind == ("", False) and find_bare(_outside(given.text, given.language), given.language):
        return None  # the block is output or an aside; the query stands outside
    reason = f"block {number} of {len(chosen)}" if len(chosen) > 1 else ""
    text = final.text
    if not final.closed and starts_like_query(text, given.language):
        text = text[: query_end(text, len(text) - len(text.lstrip()), given.language)]
    return _cut(text, _RULES[kind], reason)


_Kind = tuple[str, bool]
"""Of a code block: tagged `ours` (with the language asked for), `other` or "" (not at all), and
whether it starts like a query."""

_RULES: dict[_Kind, str] = {
    ("ours", True): "fenced",
    ("ours", False): "fenced",
    ("", True): "fenced_untagged",
    ("other", True): "fenced_other",
    ("", False): "fenced_untagged",
}
"""The kinds of blocks that may hold the query, the best first, and the rule that each goes by."""


def _best(blocks: list[Block], language: Language) -> tuple[_Kind, list[Block]]:
    """The best kind of blocks that occurs, and the blocks of it; none of them is empty."""
    ours = {fence.lower() for fence in language.fences} | {language.name}
    kinds: dict[_Kind, list[Block]] = {kind: [] for kind in _RULES}
    for block in blocks:
        tagged = "ours" if block.tag in ours else "other" if block.tag else ""
        kind = (tagged, starts_like_query(block.text, language))
        if block.text.strip() and kind in kinds:
            kinds[kind].append(block)
    return next((item for item in kinds.items() if item[1]), (("", False), []))


def _final(answer: str, blocks: list[Block]) -> tuple[Block, int]:
    """The block that the model settled on, and its 1-based number.

    Later blocks replace earlier ones (drafts, corrections), unless the text before a block offers
    it as an alternative; a new question in between ends the answer.
    """
    number = 1
    aside = False
    for index in range(1, len(blocks)):
        between = answer[blocks[index - 1].end : blocks[index].start]
        if _RUN_ON.search(between):
            break
        aside = aside or _ASIDE.search(between) is not None
        lead = between.strip().rpartition("\n\n")[2]
        if _CORRECTION.search(lead) or not aside:
            number = index + 1
            aside = False
    return blocks[number - 1], number


def _from_bare(given: _Answer) -> Extraction | None:
    """A query that stands in the answer without any mark, alone or between sentences.

    The first one, unless a later one is announced as a correction (later ones are as a rule parts
    of an explanation), or a label says which is final.
    """
    text = _outside(given.text, given.language)
    labels = list(_FINAL_LABEL.finditer(text))
    piece = find_bare(text, given.language, labels[-1].start()) if labels else None
    if piece is None:
        piece = find_bare(text, given.language)
        while piece is not None and piece.complete:
            later = find_bare(text, given.language, piece.end)
            if later is None or not _CORRECTION.search(text[piece.end : later.start]):
                break
            piece = later
    return _piece(given, piece, "bare")


def _from_inline(given: _Answer) -> Extraction | None:
    """The last query between single backticks."""
    piece = find_inline(_outside(given.text, given.language), given.language)
    return _piece(given, piece, "inline")


def _outside(answer: str, language: Language) -> str:
    """The answer with its code blocks blanked, offsets unchanged: none of them holds the query."""
    blocks = find_blocks(answer)
    if not blocks or is_closing_stray(answer, blocks, language):
        return answer
    text = answer
    for block in blocks:
        blank = re.sub(r"[^\n]", " ", text[block.start : block.end])
        text = text[: block.start] + blank + text[block.end :]
    return text


def _piece(given: _Answer, piece: Piece | None, rule: str) -> Extraction | None:
    if piece is None:
        return None
    if given.truncated and not piece.complete:
        return Extraction(None, "truncated", "the token limit cut the query off")
    return _cut(given.text[piece.start : piece.end], rule)
