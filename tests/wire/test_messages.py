"""Chat messages."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.wire import ToolCall
from cirrus_env.wire import messages as build

calls = st.builds(ToolCall, st.text(), st.text(), st.text())
messages = st.one_of(
    st.builds(build.system, st.text()),
    st.builds(build.customer, st.text()),
    st.builds(build.notice, st.text()),
    st.builds(build.assistant, st.text(), st.lists(calls, max_size=3)),
    st.builds(build.tool_result, calls, st.text()),
)


@given(messages)
def test_a_message_is_written_as_json_writes_it(message):
    plainly = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    assert build.written(message) == plainly
