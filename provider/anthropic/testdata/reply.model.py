"""Anthropic's client in Python, unmodified, against the fake: prints what it understands."""

import json
import os

import anthropic

seen = {"text": "", "calls": [], "after": "", "usage": [], "stop": "", "error": None}
tools = [{"name": "book", "description": "books", "input_schema": {"type": "object", "properties": {"to": {"type": "string"}}}}]
client = anthropic.Anthropic(api_key=os.environ["KEY"], base_url=os.environ["URL"], max_retries=0)
try:
    common = {"model": "fake-1", "max_tokens": 100, "system": "Be brief."}
    messages = [{"role": "user", "content": "Hello?"}]
    with client.messages.stream(messages=messages, **common) as stream:
        for text in stream.text_stream:
            seen["text"] += text + "|"
    messages = [{"role": "user", "content": "Book it."}]
    with client.messages.stream(messages=messages, tools=tools, **common) as stream:
        m = stream.get_final_message()
    for b in m.content:
        if b.type == "tool_use":
            seen["calls"].append([b.name, b.input])
    seen["stop"] = m.stop_reason
    seen["usage"] = [m.usage.input_tokens, m.usage.cache_read_input_tokens, m.usage.output_tokens]
    messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True, include={"type", "text", "id", "name", "input"}) for b in m.content]})
    results = [{"type": "tool_result", "tool_use_id": b.id, "content": "done"} for b in m.content if b.type == "tool_use"]
    messages.append({"role": "user", "content": results})
    with client.messages.stream(messages=messages, tools=tools, **common) as stream:
        seen["after"] = stream.get_final_text()
except anthropic.APIStatusError as e:
    seen["error"] = f"{e.status_code} {type(e).__name__}"
print(json.dumps(seen))
