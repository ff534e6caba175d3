"""Google's client in Python, unmodified, against the fake: prints what it understands."""

import json
import os

from google import genai
from google.genai import errors, types

seen = {"text": "", "calls": [], "after": "", "usage": [], "stop": "", "error": None}
declared = types.FunctionDeclaration(
    name="book", description="books", parameters_json_schema={"type": "object", "properties": {"to": {"type": "string"}}}
)
client = genai.Client(api_key=os.environ["KEY"], http_options=types.HttpOptions(base_url=os.environ["URL"]))


def ask(contents, tools=None):
    config = types.GenerateContentConfig(system_instruction="Be brief.", max_output_tokens=100, tools=tools)
    return client.models.generate_content_stream(model="fake-1", contents=contents, config=config)


try:
    for chunk in ask("Hello?"):
        if chunk.text:
            seen["text"] += chunk.text + "|"
    tools = [types.Tool(function_declarations=[declared])]
    contents = [types.Content(role="user", parts=[types.Part(text="Book it.")])]
    parts = []
    for chunk in ask(contents, tools):
        c = chunk.candidates[0]
        parts += [p for p in (c.content.parts if c.content and c.content.parts else []) if p.function_call]
        if c.finish_reason:
            u = chunk.usage_metadata
            seen["stop"] = c.finish_reason.value
            seen["usage"] = [u.prompt_token_count - u.cached_content_token_count, u.cached_content_token_count, u.candidates_token_count + u.thoughts_token_count]
    seen["calls"] = [[p.function_call.name, p.function_call.args] for p in parts]
    contents.append(types.Content(role="model", parts=parts))
    results = [
        types.Part(function_response=types.FunctionResponse(id=p.function_call.id, name=p.function_call.name, response={"output": "done"}))
        for p in parts
    ]
    contents.append(types.Content(role="user", parts=results))
    for chunk in ask(contents, tools):
        seen["after"] += chunk.text or ""
except errors.APIError as e:
    seen["error"] = f"{e.code} {e.status}"
print(json.dumps(seen))
