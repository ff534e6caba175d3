"""Deepgram's client in Python, unmodified, against the fake of Nova: prints what it understands."""

import json
import math
import os
import struct
import threading

from deepgram import DeepgramClient
from deepgram.environment import DeepgramClientEnvironment


def tone(ms):
    return b"".join(struct.pack("<h", int(8000 * math.sin(i / 6)) | 1) for i in range(16 * ms))


url = os.environ["URL"]
client = DeepgramClient(
    api_key=os.environ["KEY"],
    environment=DeepgramClientEnvironment(base=url, production=url, agent=url, agent_rest=url),
)
seen = {"final": "", "partials": 0, "end": 0, "fin": 0, "started": 0, "finished": False, "error": None}
try:
    with client.listen.v1.connect(
        model="nova-3",
        language="en",
        encoding="linear16",
        sample_rate=16000,
        interim_results="true",
        punctuate="true",
        vad_events="true",
        endpointing="300",
        keyterm=["Boston", "New York"],
    ) as socket:

        def speak():
            socket.send_keep_alive()
            for _ in range(15):
                socket.send_media(tone(100))
            socket.send_finalize()
            for _ in range(15):
                socket.send_media(tone(100))
            for _ in range(10):
                socket.send_media(bytes(3200))
            socket.send_close_stream()

        sender = threading.Thread(target=speak)
        sender.start()
        for m in socket:
            if m.type == "Results":
                words = m.channel.alternatives[0].words
                if not m.is_final:
                    seen["partials"] += 1
                for w in words if m.is_final else []:
                    seen["final"] += " " + w.punctuated_word
                    assert w.end > w.start >= 0 and w.confidence > 0, w
                seen["end"] += bool(m.speech_final)
                seen["fin"] += bool(m.from_finalize)
            elif m.type == "SpeechStarted":
                seen["started"] += 1
            elif m.type == "Metadata":
                seen["finished"] = True
            elif m.type == "Error":
                seen["error"] = m.description
        sender.join()
except Exception as e:
    seen["error"] = type(e).__name__ + ": " + str(getattr(e, "status_code", e))
print(json.dumps(seen))
