"""Soniox's client in Python, unmodified, against the fake: prints what it understands."""

import json
import math
import os
import struct
import sys
import threading
import time

from soniox import SonioxClient
from soniox.types import RealtimeSTTConfig


def tone(ms):
    return b"".join(struct.pack("<h", int(8000 * math.sin(i / 6)) | 1) for i in range(16 * ms))


client = SonioxClient(api_key=os.environ["KEY"], websocket_base_url=os.environ["URL"])
config = RealtimeSTTConfig(
    model="stt-rt-v5",
    audio_format="pcm_s16le",
    sample_rate=16000,
    num_channels=1,
    language_hints=["en"],
    enable_endpoint_detection=True,
    enable_language_identification=True,
    max_endpoint_delay_ms=1000,
    context={"terms": ["Boston"]},
)
seen = {"final": "", "partials": 0, "end": 0, "fin": 0, "finished": False, "error": None}
try:
    with client.realtime.stt.connect(config=config) as session:

        def speak():
            session.keep_alive()
            for _ in range(15):
                session.send_byte_chunk(tone(100))
            session.finalize()
            for _ in range(15):
                session.send_byte_chunk(tone(100))
            for _ in range(20):
                session.send_byte_chunk(bytes(3200))
            session.finish()

        sender = threading.Thread(target=speak)
        sender.start()
        for event in session.receive_events():
            if event.error_code is not None:
                seen["error"] = event.error_code
            for t in event.tokens:
                if t.text == "<end>":
                    seen["end"] += 1
                elif t.text == "<fin>":
                    seen["fin"] += 1
                elif t.is_final:
                    seen["final"] += t.text
                else:
                    seen["partials"] += 1
            seen["finished"] = seen["finished"] or event.finished
        sender.join()
except Exception as e:
    seen["error"] = type(e).__name__ + ": " + str(e)
print(json.dumps(seen))
