"""Deepgram's client in Python, unmodified, against the fake of Aura: two texts over one
connection, the first of which is cleared. Prints how much was heard."""

import json
import os

from deepgram import DeepgramClient
from deepgram.environment import DeepgramClientEnvironment
from deepgram.speak.v1.types import SpeakV1Text

url = os.environ["URL"]
client = DeepgramClient(
    api_key=os.environ["KEY"],
    environment=DeepgramClientEnvironment(base=url, production=url, agent=url, agent_rest=url),
)
seen = {"bytes": 0, "cancelled": 0, "model": None, "error": None}
try:
    with client.speak.v1.connect(model="aura-2-thalia-en", encoding="linear16", sample_rate="24000") as socket:
        socket.send_text(SpeakV1Text(type="Speak", text="this is not wanted " * 20))
        socket.send_flush()
        cleared = False
        for m in socket:
            if isinstance(m, bytes):
                if not cleared and not seen["cancelled"]:
                    socket.send_clear()
                seen["bytes" if cleared else "cancelled"] += len(m)
            elif m.type == "Metadata":
                seen["model"] = m.model_name
            elif m.type == "Cleared":
                cleared = True
                socket.send_text(SpeakV1Text(type="Speak", text="from new york "))
                socket.send_text(SpeakV1Text(type="Speak", text="to boston"))
                socket.send_flush()
            elif m.type == "Flushed" and cleared:
                socket.send_close()
except Exception as e:
    seen["error"] = type(e).__name__ + ": " + str(getattr(e, "status_code", e))
print(json.dumps(seen))
