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
    _cue(
        "identity",
        r"我是(?!想|要|说|觉得|认为|怕|看|在|从|不是)(?:一[名个位]|做|搞|负责|左撇子|色盲|素食|[^，,。]{0,12}(?:师|员|者|生|人|经理|总监|医生|老师|顾问|主管))",
    ),
    _cue(
        "identity",
        r"我(?:住在|来自|在[^，,。]{1,20}(?:工作|上班|任职|读书|上学|当|担任|做(?!了|完|出|好|到|过)))|我(?:目前)?负责",
    ),
    _cue("identity", r"我每(?:周|星期|天|月|年)|我(?:常)?用的是"),
    _cue(
        "identity",
        r"我的?(?:搭档|同事|老板|上司|领导|女儿|儿子|孩子|妻子|太太|老婆|丈夫|老公|伴侣|母亲|父亲|猫|狗|团队|公司|职业|母语|时区|生日)"
        r"[^，,。]{0,8}(?:叫|是|为|在)",
    ),
    _cue("constraint", r"我[^，,。]{0,6}(?:过敏|不吃|不喝|忌口|吃素)"),
    _cue("constraint", r"(?:绝不|从不|从来不|绝对不|一定不要|不要再|别再|不得|禁止|严禁|必须)"),
    _cue(
        "preference",
        r"我(?:[^，,。]{0,8})(?:喜欢|偏好|偏爱|习惯|倾向|讨厌|受不了|看重|在意|更愿意|爱[用喝吃看])(?![这那它你])",
    ),
    _cue(
        "constraint",
        r"(?:每?(?:周|星期)[一二三四五六日天末]|每[天周月]|工作日|节假日)[^，,。]{0,12}(?:不要|不能|不排|不安排|别|都)",
    ),
    _cue("preference", r"(?:^|[，,：:])(?:我?更?(?:喜欢|偏好|偏爱|习惯|倾向于?))(?![这那它你])"),
    _cue("project", r"(?:项目|产品|系统|服务|仓库|代号)(?:的?名字|名|名称)?(?:就?叫|名为|定名|是[\"“「])"),
    _cue("preference", r"我(?:平时|通常|一般|向来)(?![^，,。]{0,6}没)"),
    _cue("project", r"我们的?[^，,。]{1,10}叫|我们(?:公司|团队|部门|小?组|项目)[^，,。]{0,6}用"),
    _cue(
        "constraint",
        r"固定(?:在|为|用|周|每)|不允许|不许|不准|(?:所有|凡是)[^，,。]{1,20}都(?:要|得|应|用|使用|按|以|不能|不要)",
    ),
    _cue(
        "project",
        r"(?:我们|团队|项目)(?:[^，,。]{0,12})(?:决定(?!不)|约定|规定|确定|选定|定为|定了|采用|统一用|统一使用)",
    ),
    _cue(
        "project",
        r"(?:决定|确定|敲定|定下来)(?:了)?(?:用|采用|使用|选|走)|那?就(?:用|选|定|采用)\s*[A-Za-z\"“「\u4e00-\u9fff]",
    ),
    _cue(
        "preference",
        r"以后(?!再说)|今后|后续|往后|从今|从现在(?:起|开始)|从今天(?:起|开始)|永远|一律|长期有效"
        r"|统一(?:用|使|采|按|走|叫|写|放|遵|以|改[为成])|默认(?:都|就)?(?:用|使用|采用|给|按|以|输出|回答|回复|写)",
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
    _cue("constraint", r"\bI(?:'m| am) (?:allergic|vegetarian|vegan|intolerant|colou?r[- ]?blind|left[- ]handed)\b"),
    _cue(
        "constraint", r"\bI (?:don't|do not|can't|cannot|won't|never) (?:eat|drink|work|use|take|deploy|travel|fly)\b"
    ),
    _cue(
        "preference",
        r"\bI (?:\w+ly )?(?:don't |do not )?(?:prefer|like|love|hate|dislike|enjoy|favou?r|tend to|can't stand)\b"
        r"(?! (?:this|that|these|those|it(?! when| if)|what|how you|your)\b)",
    ),
    _cue("preference", r"\bI (?:usually|generally|typically|normally|mostly)\b(?! (?:get|see|find)\b)"),
    _cue("identity", r"\bI (?:speak|(?:mainly |mostly |only )?use (?!this|that|these|those|it|the|your))\b"),
    _cue("preference", r"\bI(?:'d| would) (?:always )?(?:rather|prefer)\b"),
    _cue("project", r"\b(?:project|product|service|app|codebase|repo|repository|system) is (?:called|named)\b"),
    _cue("project", r"\bour (?:\w+ ){1,3}is (?:called|named)\b|\bour (?:codename|code name|project) is\b"),
    _cue(
        "project",
        r"\bwe (?:all )?(?:use|follow|write)\b.{1,40}\bin (?:this|our|every|all) (?:repo|project|codebase|team)",
    ),
    _cue("constraint", r"\b(?:all|every|each)\b.{1,40}\b(?:must|have to|has to|should be)\b"),
    _cue(
        "constraint",
        r"\b(?:do not|don't|no)\b.{1,40}\b(?:on|after|before|during)"
        r" (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:s| mornings| afternoons| evenings)|weekends|office hours)\b",
    ),
    _cue(
        "project",
        r"\b(?:we|team)(?:'ve| have| has)? (?:all )?(?:decided|agreed|settled|standardi[sz]ed|chosen|chose|picked)\b",
    ),
    _cue(
        "project",
        r"\b(?:let's|let us|we'll|we will) (?:go with|settle on|stick (?:with|to)|adopt)\b|\bwe(?:'ll| will) use\b",
    ),
    _cue("preference", r"\b(?:from now on|going forward|as a rule|in future|in the future)\b"),
    # A rule, and not a complaint about something that "always fails".
    _cue(
        "preference",
        r"(?:^|[,;:] ?|\b(?:please|i|we|should|must|to|and|but|our \w+|the team|my team) )"
        r"(?:always|never)\b(?! (?:mind|said|did|saw|got|had|meant|asked|told|knew|thought)\b)|\balways\s*[.!]?$",
    ),
    _cue("preference", r"\bby default,? (?:please )?(?:i|we|use|give|write|answer|send|show|keep|reply|format|add)\b"),
    _cue("preference", r"^(?:use|give|write|answer|send|show|keep|reply|format|add)\b.{1,80}\bby default\b"),
)

# Speaks of the task at hand only.
ONE_OFF = re.compile(
    r"这[一]?次|本次|此次|今[天晚早](?!起|开始|以后)|明[天晚早]|昨[天晚]|刚[才刚]|现在(?!起|开始)|眼下|暂时|临时|上面"
    r"|先(?:帮|把|给)|帮(?:我|忙)|麻烦(?:你|您)|这[个份篇段张封页一](?!月起|项目|仓库|团队|产品|系统|服务)"
    r"|\b(?:this time|just this once|only this once|today|tonight|tomorrow|yesterday|right now|for now|at the moment"
    r"|currently|for this \w+|here\s*[.!]?$|(?:this|that|these|the following|the attached) (?:file|paragraph|text"
    r"|email|report|bug|error|function|page|document|code|test|log|message|one))\b",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"[?？]\s*$|(?:吗|呢|么)\s*[。.！!]?\s*$|^(?:怎么|如何|为什么|什么|哪|是不是|能不能|可不可以|要不要)"
    r"|^(?:what|which|who|how|why|when|where|can|could|would|should|do|does|did|is|are) ",
    re.IGNORECASE,
)
HYPOTHESIS = re.compile(
    r"如果|假如|假设|要是|万一|比如说?我|扮演|不确定"
    r"|\b(?:if i|suppose|pretend|imagine|let's say|hypothetically|not sure|role-?play|act as)\b",
    re.IGNORECASE,
)
# A piece of work, unless something lasting stands beside it.
TASK = re.compile(
    r"翻译|改写|润色|写一[封篇份个段首]|^(?:translate|rewrite|proofread|summari[sz]e|write|draft|compose|generate|create"
    r"|fix|explain|find|check|rename|convert|change|update)\b",
    re.IGNORECASE,
)
# Speaks to the model about its instructions; as a memory it would do so again in every later task.
INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines|previous|prior)\b"
    r"|(?:忽略|无视|忘记|忘掉|绕过).{0,12}(?:指令|规则|提示词|以上|之前|上面|系统)",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"(?:朋友|同事|同学|老板|领导|客户|邻居|妈妈?|爸爸?|母亲|父亲|妻子|丈夫|老婆|老公|女儿|儿子|[兄弟姐妹哥][妹弟姐哥]|搭档|他们?|她们?|有人|别人|大家)"
    r"[^，,。叫]{0,8}(?:喜欢|讨厌|偏好|习惯|爱[用喝吃看]|想)"
    r"|\b(?:friend|colleague|boss|manager|client|customer|neighbou?r|mother|father|mom|dad|brother|sister|wife|husband|partner"
    r"|daughter|son|he|she|they|people|everyone|someone)s? (?:\w+ly )?"
    r"(?:likes?|loves?|hates?|prefers?|enjoys?|dislikes?|wants?)\b",
    re.IGNORECASE,
)
