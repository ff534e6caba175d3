"""ElevenLabs' client in Python, unmodified, against the fake: a text that comes in pieces. Prints
how much was heard."""

import json
import os

from elevenlabs.client import ElevenLabs

seen = {"bytes": 0, "error": None}
try:
    client = ElevenLabs(api_key=os.environ["KEY"], base_url=os.environ["URL"])
    for chunk in client.text_to_speech.convert_realtime(
        "JBFqnCBsd6RMkjVDRZzb",
        text=iter(["from ", "new york ", "to ", "boston"]),
        model_id="eleven_flash_v2_5",
        output_format="pcm_24000",
    ):
        seen["bytes"] += len(chunk)
except Exception as e:
    seen["error"] = type(e).__name__ + ": " + str(e)
print(json.dumps(seen))
