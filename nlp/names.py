"""Closed lists for telling names from other words: surnames, forms of address, and words that only look like names."""

from __future__ import annotations

SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛范彭郎鲁韦马苗方俞任袁柳鲍史唐费薛"
    "雷贺倪汤殷罗毕郝安常于傅卞齐康伍余顾孟黄穆萧尹姚邵汪祁毛狄臧戴宋庞熊纪舒屈项祝董梁杜阮蓝席季贾江童郭梅林钟徐邱骆高夏蔡"
    "田樊胡凌霍虞万柯管卢莫房解应丁邓郁洪包左石崔龚程邢裴陆荣翁段侯全宁仇祖武刘景詹束龙叶白蒲池乔翟谭姬申冉桑牛边温庄晏阎"
    "肖岳欧聂关曾游盛"
)

_DOUBLE = "欧阳 司马 上官 诸葛 司徒 东方 皇甫 尉迟 公孙 慕容 令狐 宇文 长孙 端木 南宫 夏侯 独孤"
DOUBLE_SURNAMES = frozenset(_DOUBLE.split())

PERSON_TITLES = "老师|经理|总监|医生|教授|主任|同学|师傅|律师|工程师|阿姨|叔叔|总|工(?![作具程资人期单厂会业时艺])"

_CALENDAR = """monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
    saturdays sundays january february march april june july august september october november december today tomorrow
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun am pm gmt utc"""

_LANGUAGES = """english british american chinese mandarin cantonese japanese korean german french spanish russian
    portuguese italian dutch arabic hindi tamil simplified traditional european asian
    中文 英文 英语 汉语 普通话 简体 繁体 简体中文 繁体中文 日语 日文 韩语 法语 德语 俄语 西班牙语 粤语"""

_ROLES = """user users assistant the-user ai ok yes no todo hi hello dear thanks please note
    professor prof dr doctor mr mrs ms mx nutzer benutzer utilisateur usuario utente usuário gebruiker
    用户 使用者 助手 助理 客户 系统 团队 公司 老师 同事 家人 父亲 母亲 女儿 儿子"""

_LOOK_ALIKES = """日志 小于 小康 小叶 小白 小毛 小石 小江 小金 小高 小鲁 小雷 小牛 小熊 小季
    高兴 明白 方便 安静 平安 和平 健康 关注 小时 小组 小学 小型 老板 老师 老家 老人 大学 中学 高中
    初中 高考 温度 温馨 成立 文明 黄金 白天 安全 安排 马上 金额 石头 高级 高峰 江湖 周期 周末 周报 周一
    周二 周三 周四 周五 周六 周日 周会 周年 方案 方法 方式 方向 方面 任务 任何 全部 全员 全名 应用 应该
    常用 常见 管理 解决 解释 项目 程序 程度 段落 景色 白色 红色 蓝色 关键 关于 包括 包装 单元 华丽 严格
    严重 易懂 顾客 盛大 曾经 万元 毛利 和谐 连续 明确 单号 老顾客 小程序"""

NOT_NAMES = frozenset(f"{_CALENDAR} {_LANGUAGES} {_ROLES} {_LOOK_ALIKES}".split())
