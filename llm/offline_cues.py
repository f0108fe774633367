"""What a lasting statement looks like, as a table; the offline extractor is only as good as these rows.

Each pattern is searched in one sentence of the user. No row nests quantifiers, so all of them run in linear time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern and the type of fact it speaks for."""

    type: str
    pattern: re.Pattern[str]


def _cue(fact_type: str, pattern: str) -> Cue:
    return Cue(fact_type, re.compile(pattern, re.IGNORECASE))


# Says that something holds from now on; it outweighs a mention of today.
LASTING = re.compile(
    r"以后|今后|后续|往后|从今|从现在(?:起|开始)|从今天(?:起|开始)|一直|总是|每次|永远|始终|默认|一律|统一|长期"
    r"|\b(?:always|never|from now on|going forward|in future|in the future|by default|every time|as a rule)\b",
    re.IGNORECASE,
)

CUES = (
    _cue("identity", r"我叫|我的名字|我的英文名|叫我"),
    _cue("identity", r"我是(?:一[名个位]|做|搞|负责|[^，,。]{0,12}(?:师|员|者|生|人|经理|总监|医生|老师|顾问|主管))"),
    _cue("identity", r"我(?:住在|来自|在[^，,。]{1,20}(?:工作|上班|任职|读书|上学|做))|我(?:目前)?负责"),
    _cue(
        "identity",
        r"我的?(?:搭档|同事|老板|上司|领导|女儿|儿子|孩子|妻子|太太|老婆|丈夫|老公|伴侣|母亲|父亲|猫|狗|团队|公司|职业|母语|时区|生日)"
        r"[^，,。]{0,8}(?:叫|是|为|在)",
    ),
    _cue("constraint", r"我[^，,。]{0,6}(?:过敏|不吃|不喝|忌口|吃素)"),
    _cue("constraint", r"(?:绝不|从不|从来不|绝对不|一定不要|不要再|别再|不得|禁止|严禁|必须)"),
    _cue(
        "preference",
        r"我(?:[^，,。]{0,8})(?:喜欢|偏好|偏爱|习惯|倾向|讨厌|不喜欢|受不了|看重|在意|更愿意|爱[用喝吃看])",
    ),
    _cue(
        "constraint",
        r"(?:每?(?:周|星期)[一二三四五六日天末]|每[天周月]|工作日|节假日)[^，,。]{0,12}(?:不要|不能|不排|不安排|别|都)",
    ),
    _cue("preference", r"(?:^|[，,：:])(?:我?更?(?:喜欢|偏好|偏爱|习惯|倾向于?))"),
    _cue("project", r"(?:项目|产品|系统|服务|仓库|代号)(?:的?名字|名|名称)?(?:就?叫|名为|定名|是[\"“「])"),
    _cue("project", r"(?:我们|团队|项目)(?:[^，,。]{0,12})(?:决定|约定|规定|确定|选定|定为|定了|采用|统一用|统一使用)"),
    _cue(
        "project",
        r"(?:决定|确定|敲定|定下来)(?:了)?(?:用|采用|使用|选|走)|那?就(?:用|选|定|采用)\s*[A-Za-z\"“「\u4e00-\u9fff]",
    ),
    _cue(
        "preference",
        r"以后|今后|后续|往后|从今|从现在(?:起|开始)|从今天(?:起|开始)|永远|默认|一律|统一(?:用|使用|采用)?",
    ),
    _cue("preference", r"(?:每次|总是|一直|始终)(?:都)?(?:要|用|先|给|使用|希望)"),
    _cue("identity", r"\bmy name is\b|\bcall me\b|\bI(?:'m| am) called\b"),
    _cue("identity", r"\bI(?:'m| am) (?:a|an|the) (?!bit\b|little\b|lot\b|few\b|couple\b)\w+"),
    _cue(
        "identity",
        r"\bI (?:work|live|study|teach) (?:as|at|in|for|with|on)\b|\bI(?:'m| am) (?:from|based in|responsible for)\b",
    ),
    _cue(
        "identity",
        r"\bmy (?:partner|wife|husband|spouse|daughter|son|kid|manager|boss|colleague|team|company|employer|job|role"
        r"|title|birthday|time ?zone|native language|mother tongue|cat|dog)(?:'s name)? (?:is|are|was born)\b",
    ),
    _cue("constraint", r"\bI(?:'m| am) (?:allergic|vegetarian|vegan|intolerant|colou?r[- ]?blind)\b"),
    _cue(
        "constraint", r"\bI (?:don't|do not|can't|cannot|won't|never) (?:eat|drink|work|use|take|deploy|travel|fly)\b"
    ),
    _cue("preference", r"\bI (?:\w+ly )?(?:prefer|like|love|hate|dislike|enjoy|favou?r|tend to|can't stand)\b"),
    _cue("preference", r"\bI(?:'d| would) (?:always )?(?:rather|prefer)\b"),
    _cue("project", r"\b(?:project|product|service|app|codebase|repo|repository|system) is (?:called|named)\b"),
    _cue("project", r"\bwe(?:'ve| have)? (?:all )?(?:decided|agreed|settled|standardi[sz]ed|chosen|chose|picked)\b"),
    _cue("project", r"\b(?:let's|let us|we'll|we will) (?:go with|use|settle on|stick (?:with|to)|adopt)\b"),
    _cue("preference", r"\b(?:always|never|from now on|going forward|by default|as a rule|in future|in the future)\b"),
)

# Speaks of the task at hand only.
ONE_OFF = re.compile(
    r"这[一]?次|本次|此次|今[天晚早](?!起|开始|以后)|明[天晚早]|昨[天晚]|刚[才刚]|现在(?!起|开始)|眼下|暂时"
    r"|先(?:帮|把|给)|帮(?:我|忙)|麻烦(?:你|您)|这[个份篇段张封](?!月起)"
    r"|\b(?:this time|just this once|only this once|today|tonight|tomorrow|yesterday|right now|for now|at the moment"
    r"|currently|for this \w+|(?:this|that|these|the following|the attached) (?:file|paragraph|text|email|report|bug"
    r"|error|function|page|document|code|test|log|message|one))\b",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"[?？]\s*$|(?:吗|呢|么)\s*[。.！!]?\s*$|^(?:怎么|如何|为什么|什么|哪|是不是|能不能|可不可以|要不要)"
    r"|^(?:what|which|who|how|why|when|where|can|could|would|should|do|does|did|is|are) ",
    re.IGNORECASE,
)
HYPOTHESIS = re.compile(
    r"如果|假如|假设|要是|万一|比如说?我|\b(?:if i|suppose|imagine|let's say|hypothetically)\b", re.IGNORECASE
)
OTHERS = re.compile(
    r"(?:朋友|同事|同学|老板|领导|客户|邻居|妈妈?|爸爸?|母亲|父亲|妻子|丈夫|女儿|儿子|搭档|他们?|她们?|有人|别人|大家)"
    r"[^，,。叫]{0,8}(?:喜欢|讨厌|偏好|习惯|爱[用喝吃看]|想)"
    r"|\b(?:friend|colleague|boss|manager|client|customer|neighbou?r|mother|father|mom|dad|wife|husband|partner"
    r"|daughter|son|he|she|they|people|everyone|someone)s? (?:\w+ly )?"
    r"(?:likes?|loves?|hates?|prefers?|enjoys?|dislikes?|wants?)\b",
    re.IGNORECASE,
)
