"""Cartesia's client in Python, unmodified, against the fake: two contexts of one connection, the
first of which is cancelled. Prints what was heard."""

import base64
import json
import os

from cartesia import Cartesia

seen = {"bytes": 0, "cancelled": 0, "words": [], "starts": [], "error": None}
options = dict(
    model_id="sonic-3.5",
    voice={"mode": "id", "id": "6ccbfb76-1fc6-48f7-b71d-91ac6298247b"},
    output_format={"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000},
    language="en",
    add_timestamps=True,
)
try:
    client = Cartesia(api_key=os.environ["KEY"], websocket_base_url=os.environ["URL"])
    with client.tts.websocket_connect() as connection:
        unwanted = connection.context(**options)
        unwanted.push("this is not wanted " * 20)
        unwanted.no_more_inputs()
        wanted = connection.context(**options)
        wanted.push("from new york ")
        wanted.push("to boston")
        wanted.no_more_inputs()
        for event in unwanted.receive():
            if event.type == "chunk":
                seen["cancelled"] += len(base64.b64decode(event.data))
                unwanted.cancel()
                break
        for event in wanted.receive():
            if event.type == "chunk":
                seen["bytes"] += len(base64.b64decode(event.data))
            elif event.type == "timestamps":
                seen["words"] += event.word_timestamps.words
                seen["starts"] += event.word_timestamps.start
            elif event.type == "error":
                seen["error"] = event.message
except Exception as e:
    seen["error"] = type(e).__name__ + ": " + str(e)
print(json.dumps(seen))
