"""Deepgram's client in Python, unmodified, against the fake of Flux: prints what it understands."""

import json
import math
import os
import struct
import threading

from deepgram import DeepgramClient
from deepgram.environment import DeepgramClientEnvironment
from deepgram.listen.v2.types import ListenV2CloseStream, ListenV2Configure, ListenV2ForceEndTurn


def tone(ms):
    return b"".join(struct.pack("<h", int(8000 * math.sin(i / 6)) | 1) for i in range(16 * ms))


url = os.environ["URL"]
client = DeepgramClient(
    api_key=os.environ["KEY"],
    environment=DeepgramClientEnvironment(base=url, production=url, agent=url, agent_rest=url),
)
seen = {"final": "", "partials": 0, "events": [], "triggers": [], "configured": None, "error": None}
try:
    with client.listen.v2.connect(
        model="flux-general-en", encoding="linear16", sample_rate="16000", eager_eot_threshold="0.5", keyterm="Boston"
    ) as socket:
        ended = threading.Event()

        def speak():
            socket.send_configure(ListenV2Configure(type="Configure", keyterms=["New York"]))
            for _ in range(15):
                socket.send_media(tone(100))
            socket.send_force_end_turn(ListenV2ForceEndTurn(type="ForceEndTurn"))
            for _ in range(15):
                socket.send_media(tone(100))
            for _ in range(10):
                socket.send_media(bytes(3200))
            ended.wait(10)
            socket.send_close_stream(ListenV2CloseStream(type="CloseStream"))

        sender = threading.Thread(target=speak)
        sender.start()
        order = -1
        for m in socket:
            assert m.sequence_id == order + 1, m
            order = m.sequence_id
            if m.type == "TurnInfo":
                if m.event != "Update":
                    seen["events"].append(m.event)
                else:
                    seen["partials"] += 1
                if m.event == "EndOfTurn":
                    seen["final"] += " " + m.transcript
                    seen["triggers"].append(m.trigger)
                    assert m.words[0].confidence > 0, m
                    if len(seen["triggers"]) == 2:
                        ended.set()
            elif m.type == "ConfigureSuccess":
                seen["configured"] = m.keyterms
            elif m.type == "Error":
                seen["error"] = m.code
        sender.join()
except Exception as e:
    seen["error"] = seen["error"] or type(e).__name__ + ": " + str(getattr(e, "status_code", e))
print(json.dumps(seen))
