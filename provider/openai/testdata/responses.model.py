"""OpenAI's client in Python, unmodified, against the fake of the Responses API: prints what it understands."""

import json
import os

import openai

seen = {"text": "", "calls": [], "after": "", "usage": [], "stop": "", "error": None}
tools = [{"type": "function", "name": "book", "description": "books", "strict": False, "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}]
client = openai.OpenAI(api_key=os.environ["KEY"], base_url=os.environ["URL"] + "/v1", max_retries=0)
try:
    common = {"model": "fake-1", "max_output_tokens": 100, "instructions": "Be brief.", "store": False}
    with client.responses.stream(input="Hello?", **common) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                seen["text"] += event.delta + "|"
    items = [{"role": "user", "content": "Book it."}]
    with client.responses.stream(input=items, tools=tools, **common) as stream:
        r = stream.get_final_response()
    calls = [o for o in r.output if o.type == "function_call"]
    seen["calls"] = [[c.name, json.loads(c.arguments)] for c in calls]
    seen["stop"] = r.status
    u = r.usage
    seen["usage"] = [u.input_tokens - u.input_tokens_details.cached_tokens, u.input_tokens_details.cached_tokens, u.output_tokens]
    for c in calls:
        items.append({"type": "function_call", "call_id": c.call_id, "name": c.name, "arguments": c.arguments})
        items.append({"type": "function_call_output", "call_id": c.call_id, "output": "done"})
    with client.responses.stream(input=items, tools=tools, **common) as stream:
        seen["after"] = stream.get_final_response().output_text
except openai.APIStatusError as e:
    seen["error"] = f"{e.status_code} {type(e).__name__}"
print(json.dumps(seen))
