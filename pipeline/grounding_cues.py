"""The words by which grounding tells a statement from a question, a suggestion, a wish or somebody else's taste.

Tables only. Each pattern looks at one sentence or clause and decides nothing about what is worth keeping.
"""

from __future__ import annotations

import re

# fmt: off
_FLAGS = re.IGNORECASE | re.VERBOSE

NEGATION = re.compile(
    r"""不(?!错|过|同|仅|但|只|断|管|论|久|少|如|妨|得不|由|禁|然|满意)|没(?!关系|问题|事)|別|别(?!的|人|墅|名
    |处|提多|忘)
    |无(?!论|所谓|锡|线|人机)|非(?!常|洲|得)|勿|禁止|避免|拒绝|讨厌|反感|厌恶|忌(?!日)|过敏|免(?!费|得)|戒|少于
    |受不了|停用|弃用|放弃|取消
    |\b(?:not|no|never|none|without|avoid(?:s|ed|ing)?|dislik\w*|hat(?:e|es|ed|ing)|refus\w*|against|forbid\w*
    |neither|nor
    |cannot|allerg\w*|can'?t|stop(?:s|ped)?|ban(?:s|ned)?|skip|free\ of|quit|nothing|hardly|intoleran\w*|except
    |don'?t|won'?t)\b
    |n't\b|\w-free\b|\b(?:kein\w*|nicht|nie|ohne|ne|pas|jamais|sans|nunca|sin|evit\w*|évit\w*|vermeid\w*
    |избега\w*|не|нет|без|никогда)\b
    |ない|ません|嫌い|苦手|않|안\s|싫""",
    _FLAGS,
)
# "能不能", "有没有": a question, not a negation.
EITHER_WAY = re.compile(r"([\u4e00-\u9fff])[不没]\1|可不可以|愿不愿意|喜不喜欢|需不需要|应不应该")
QUESTION = re.compile(
    r"""[?？]["'”’)）]*\s*\Z|(?:吗|呢|么)[。.!！]?\s*\Z
    |^\W{0,3}(?:请问|问一下|查一?下|查询|看看|讲讲|讲一?下|说说|解释一?下|介绍一?下|对比一?下|比较一?下|什么是
    |怎么|如何|为什么|为啥|哪(?!怕)|谁|有没有|是不是|能否)
    |(?:怎么样|怎么办|是什么|有哪些|怎么(?:做|办|弄|收集|选|写|配))[。.]?\s*\Z
    |^\W{0,3}(?:what|which|who|whose|where|when|why|how|explain|compare|describe|look\ up|find\ out
    |tell\ me\ about|tell\ me\ how|what's|who's|how's)\b
    |^\W{0,3}(?:is|are|do|does|did|can|could|would|should|will)\s(?!not\b).*[?？]""",
    _FLAGS,
)
# A question in form, a wish in substance: "以后能不能都用中文？", "Could you always answer in English?".
REQUEST = re.compile(
    r"""以后|今后|从现在起|往后|每次|都(?:用|要)|一律|一直|永远|记住|记一?下|别再|不要再
    |\b(?:always|never|from\ now\ on|in\ future|in\ the\ future|going\ forward|every\ time|remember|please\ keep
    |whenever|each\ time)\b""",
    _FLAGS,
)
HYPOTHETICAL = re.compile(
    r"""^\W{0,3}(?:如果|要是|假如|假设|万一|倘若|若是|若(?=我)|等(?:我|以后|哪天)|将来要是)|(?:的话)\s*\Z
    |^\W{0,3}(?:if|suppose|imagine|assuming|in\ case|unless|what\ if|let's\ say|hypothetically|say\ i)\b
    |(?:可能会|也许|或许|说不定|没准|考虑过?要不要|还没(?:想好|决定|定))|\b(?:might|maybe|perhaps|would\ be
    |i'd\ be|i\ wish
    |not\ sure\ (?:if|whether)|haven't\ decided|thinking\ (?:of|about))\b""",
    _FLAGS,
)
CONDITION = re.compile(
    r"""如果|要是|假如|若|时候?|当|除非|只要|遇到|可能|也许|考虑|打算|想|犹豫|\b(?:if|when|unless|whenever
    |in\ case|might|may|maybe
    |consider\w*|thinking|wonder\w*|wish\w*|undecided|whether|would|possibl\w*)\b""",
    _FLAGS,
)
_PEOPLE_ZH = r"""(?:朋友|同事|客户|同学|室友|邻居|老板|领导|上司|经理|妈妈?|爸爸?|父亲|母亲|老婆|妻子|老公|丈夫
    |爱人|女儿|儿子|孩子|哥哥?|姐姐?|弟弟?|妹妹?|男友|女友
    |男朋友|女朋友|伴侣|搭档
    |奶奶|爷爷|外公|外婆|叔叔|阿姨|表[哥姐弟妹]|堂[哥姐弟妹]|家人|舍友|甲方|对方|别人|合伙人|导师|室友
    |团队里(?:的|有)人|有人|闺蜜|岳母|婆婆|宝宝|侄子|外甥|老师|学生)"""
_PEOPLE_EN = r"""(?:friend|colleague|co-?worker|boss|manager|client|customer|teammate|roommate|flatmate
    |neighbou?r|wife|husband|partner|girlfriend|boyfriend|spouse
    |mom|mum|mother|dad|father|son|daughter|kid|child|brother|sister|cousin|uncle|aunt|grandm\w+|grandf\w+|niece
    |nephew|mentor|lead|ceo|cto|intern|assistant|teacher|student|parents?|kids|children)s?"""
# Somebody else is the subject of the clause.
OTHER_SUBJECT = re.compile(
    rf"""^\W{{0,3}}(?:(?:而|但是?|不过|因为|所以|还有|另外|其实|听说|据说|帮|给|替|然后)?\W{{0,2}})(?:(?:我|咱
    |俺|我们|咱们|她|他)(?:的|家|们)?(?:那个
    |这个|一个|有个|有位|一位)?[\u4e00-\u9fff]{{0,3}}?(?:的)?{_PEOPLE_ZH}|{_PEOPLE_ZH}|[他她](?!们?的?(?:说|建议)我))
    |^\W{{0,3}}(?:and\s|but\s|because\s|so\s|also\s|apparently\s|i\ (?:think|heard|know)\s(?:that\s)?)?(?:(?:my
    |our|a|an|one\ of\ my|the|his|her|their)\s(?:\w+[ -]){{0,2}}?{_PEOPLE_EN}(?:'s)?\b|(?:he|she|they)(?:'s|'re
    |'ve|'d)?\b)""",
    _FLAGS,
)
PERSON = re.compile(rf"{_PEOPLE_ZH}|\b{_PEOPLE_EN}\b|\b(?:his|her|he|she)\b|[他她]", _FLAGS)
FIRST_PERSON = re.compile(r"我(?!的?(?:朋友|同事|客户))|咱|俺|\b(?:i|me|my|mine|we|our|us|i'm|i've|i'd|i'll)\b", _FLAGS)
IDENTITY = re.compile(
    r"""用户(?:的)?(?:名字|姓名|名|昵称)?(?:叫做?|名叫|是叫|姓|名为|的名字是|的姓名是|名字是)|用户名叫
    |\b(?:the\ )?user(?:'s)?\ (?:name\ is|is\ named|is\ called|goes\ by|full\ name)""",
    _FLAGS,
)
IDENTITY_CUE = re.compile(
    r"""我(?:的名字)?(?:叫|是|姓|名叫|英文名)|叫我|称呼我|我的(?:名字|姓名|昵称|英文名)|(?:本人|在下|鄙人)
    |这里是|我们?家
    |\b(?:i'm|i\ am|my\ name|call\ me|this\ is|i\ go\ by|name's|signed|it's\ \w+\ (?:here|speaking)
    |people\ call\ me)\b|名前は|です|제\ 이름|저는|ich\ (?:bin|hei)|je\ (?:m'appelle|suis)|me\ llamo|soy|меня\ зовут""",
    _FLAGS,
)
# The opening of a turn that agrees with what the other side has just proposed.
AGREEMENT = re.compile(
    r"""^\W{0,3}(?:好的?(?!像|不好|几|多|久|奇)|行(?!业|程|不行)|可以(?!吗|不)|同意|没问题|没错|对(?!了|不|比)
    |是的|嗯|就(?:这么|这样|用|按|选|定|它|那个)
    |(?:那|那么|那就)就?(?:用|按|定|选|这么|这样)|听你的|按你说的|采纳|确认|赞成|OK|成(?=[，,。.]|\Z)
    |中(?=[，,。.]|\Z)|定了|不错，就
    |yes|yep|yeah|ok(?:ay)?|sure|sounds\ good|agreed|perfect|great|deal|good(?!\ (?:question|morning|evening))
    |fine|let's|let\ us|do\ (?:it|that)|go\ (?:with|ahead|for)|works\ for\ me|absolutely|exactly|right|correct
    |confirmed|i\ agree|that\ works|love\ it|done|はい|そうしましょう|お願い|네|좋아|ja\b|gut|oui|d'accord|sí
    |vale|да|хорошо)""",
    _FLAGS,
)
REFUSAL = re.compile(
    r"""不(?:用|要|行|想|好|了|同意|考虑|合适|太|是很|需要|赞成|喜欢)|算了|再(?:想想|说|看看|考虑)|先不
    |还是(?!就|用你|按你)|但(?!凡)|别|没必要|太(?:贵|重|复杂|麻烦|大|慢)
    |\b(?:no|not|don'?t|nah|rather\ not|instead|hold\ off|later|but|however|think\ about\ it|let\ me\ think
    |never\ mind|pass|skip)\b""",
    _FLAGS,
)
# A turn of the assistant that only repeats what it was told.
ECHO = re.compile(
    r"""^\W{0,3}(?:好的?|明白|收到|了解|已|没问题|知道了|记住|记下|已记录|已确认|确认|行|OK|嗯|可以|遵命|当然
    |noted|got\ it|understood|okay|ok|sure|will\ do|done|confirmed|i'?ll|i\ will|i've|great|thanks|alright|right
    |of\ course|absolutely|certainly|perfect|roger|happy\ to|congratulations|nice)""",
    _FLAGS,
)
PROPOSAL = re.compile(
    r"""建议|推荐|不妨|可以(?:考虑|用|试)|要不|或者|方案|最好|应该|考虑|如何|怎么样|要不要|[?？]
    |\b(?:suggest|recommend|propose|could|might|should|consider|how\ about|what\ about|option|would\ you
    |you\ can|better|best|try|why\ not|shall)\b""",
    _FLAGS,
)
# fmt: on
