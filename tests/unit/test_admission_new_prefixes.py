"""A vendor that changes how its keys begin is noticed by the words around a key."""

from __future__ import annotations

import pytest

from admission.secrets import find_secret
from tests.made_up import ALNUM, made

SAID = (
    "{} 这是我的 key",
    "这是我的 key：{}",
    "新的密钥 {}，别外传",
    "接口的 token 换成了 {}",
    "here is my key: {}",
    "my new api key is {}",
    "use the token {} for staging",
)


# Kind: NousResearch/hermes-agent#79097.
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("prefix", ["m0-", "m1_", "mem0-", "zq7.", "Xk-live-", "nokey_", ""])
def test_a_key_that_begins_as_none_did_before_is_found(said: str, prefix: str) -> None:
    assert find_secret(said.format(prefix + made(ALNUM, 40)))


@pytest.mark.parametrize(
    "harmless",
    [
        "这是我的 key：先写测试再写代码",
        "这个 key 决定排序，按 user_id 排",
        "here is my key point: keep the answers short",
        "分支 m0-baseline 是我的 key 分支",
        "The primary key is memory_id and the token limit is 4096",
    ],
)
def test_talk_of_keys_is_no_key(harmless: str) -> None:
    assert find_secret(harmless) is None
