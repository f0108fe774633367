"""Find a bare key that only the name of its service gives away: "Datadog 接入了，9ea5…", "put 4f2c… in the env file".

Commits, checksums, traces and orders look just the same, so a sentence that speaks of one of those is let off.
"""

from __future__ import annotations

import re

from admission.secret_forms import is_random_key
from admission.secret_values import is_strong

_AROUND = 60
_KEY = re.compile(
    r"(?<![\w/+.=@#$%:-])(?<!sha256:)(?:[0-9a-f]{24,128}|[0-9A-F]{24,128}|(?=[A-Za-z/+_-]{0,40}\d)[A-Za-z0-9+/_-]{16,160}={0,2}"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){5})(?![\w/+=@-])|(?<=[:=])[0-9a-f]{32,64}(?![\w/-])"
)
_SERVICE = re.compile(
    r"datadog|heroku|fastly|pushover|rapidapi|azure|cloudflare|volc(?:ano )?engine|new ?relic"
    r"|dynatrace|splunk|pinecone|weaviate|qdrant|milvus|zilliz|openai|anthropic|cohere|mistral|deepgram"
    r"|assembly ?ai|eleven ?labs|stability|replicate|together|fireworks|groq|perplexity|voyage|jina|openrouter"
    r"|siliconflow|moonshot|kimi|minimax|baichuan|stepfun|zhipu|deepseek|dashscope|qwen|hunyuan|ernie|qianfan"
    r"|doubao|spark\b|iflytek|azure speech|mapbox|open ?weather|weather ?api|accuweather|tomtom|algolia|amplitude"
    r"|mixpanel|segment|posthog|sentry|rollbar|bugsnag|honeycomb|grafana cloud|pagerduty|opsgenie|twilio|vonage"
    r"|nexmo|sendgrid|mailgun|mailchimp|postmark|sendcloud|onesignal|pusher|ably|agora|livekit|zoom\b|airtable"
    r"|notion|linear|asana|trello|jira|zendesk|intercom|hubspot|salesforce|shopify|paypal|braintree|adyen|coinbase"
    r"|binance|okx|bybit|kraken|alchemy|infura|etherscan|moralis|tmdb|omdb|newsapi|news api|serpapi|serper|tavily"
    r"|exa\b|bing search|brave search|finnhub|polygon\.io|alpha ?vantage|tushare|last\.?fm|steam\b|spotify"
    r"|unsplash|pexels|giphy|ipinfo|maxmind|abuseipdb|virustotal|shodan|censys|hunter\.io|clearbit|deepl|linode"
    r"|vultr|hetzner|digital ?ocean|netlify|vercel|fly\.io|supabase|upstash|neon\b|planetscale|contentful|sanity"
    r"|cloudinary|imgix|auth0|okta|clerk\b|launchdarkly|statsig|snyk|sonarcloud|codecov|circleci|buildkite|travis"
    r"|wandb|weights (?:&|and) biases|comet|langsmith|langfuse|helicone|mem0|百度|高德|腾讯|阿里|华为|火山|twitch"
    r"|豆包|千问|通义|智谱|文心|千帆|混元|讯飞|月之暗面|百川|零一万物|阶跃|硅基流动|和风|心知|彩云|极光|个推|友盟"
    r"|神策|七牛|又拍|云片|融云|环信|声网|网易云信|容联|聚合数据|天行|快递鸟|快递100|企业微信|公众号|小程序"
    r"|微信支付|支付宝|钉钉|飞书|有道|搜狗|思必驰|出门问问|天气|地图|翻译|\benv\b|\.env\b|\bconfig(?:ure[sd]?"
    r"|uration)?\b|\bsubscription (?:one|for)\b|接入|配置|调用|环境变量|后台给的|控制台|填进?|填的",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?<![a-z])(?:commit|revision|revert(?:ed)?|sha-?\d{0,3}|md5|crc\d*|blake\w*|hash(?:es)?|digest|checksum|etag"
    r"|trace(?:[ _-]?id|parent)?|span|request(?:[ _-]?id)?|req|uuid|guid|(?<!app )(?<!key )id|ids|event|session"
    r"|order|invoice|ticket|tracking|image|layer|container|docker|cid|zone|account|tenant|project|page|doc"
    r"|document|(?<!env )(?<!config )file|node|object|record|row|dashboard|build|run|job|branch|tag|tx|transaction"
    r"|block|address|public|fingerprint|thumbprint|serial|device|model|weights|dataset|bucket|key name|database"
    r"|message|torrent|magnet|version|correlation|ray|git|github|gitlab|npm|pypi|integrity|certificate|cert"
    r"|cache)(?![a-z])|提交|校验|哈希|摘要|指纹|镜像|容器|追踪|链路|请求|编号|单号|订单|流水|会话|事件|页面|文档"
    r"|文件|租户|项目|账单|设备|交易|地址|公钥|序列号|种子|缓存|版本|分支|哪个节点|主键|记录|日志|物流|快递单",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[。；;！!？?\n]|\.\s")
_LONG = re.compile(r"[A-Za-z0-9+/_-]{16}")


def find_bare_key(text: str) -> str | None:
    """A rule's name, where a long random value and a service stand in one sentence that speaks of nothing else."""
    if not _LONG.search(text):
        return None
    return "bare_key" if any(_is_bare_key(text, match) for match in _KEY.finditer(text)) else None


def _is_bare_key(text: str, match: re.Match[str]) -> bool:
    value = match.group()
    if not is_random_key(value) or (len(value) < 20 and not is_strong(value)):
        return False
    before = _BREAK.split(text[max(0, match.start() - _AROUND) : match.start()])[-1]
    after = _BREAK.split(text[match.end() : match.end() + _AROUND])[0]
    around = f"{before} {after}"
    return _SERVICE.search(around) is not None and _OTHER.search(around) is None
