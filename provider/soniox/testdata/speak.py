"""Soniox's client in Python, unmodified, against the fake: two streams of one connection, one
of which is cancelled. Prints how much was heard."""

import json
import os

from soniox import SonioxClient
from soniox.types import RealtimeTTSConfig

seen = {"bytes": 0, "text": "", "cancelled": 0, "error": None}
client = SonioxClient(api_key=os.environ["KEY"], tts_websocket_base_url=os.environ["URL"])


def config(name):
    return RealtimeTTSConfig(
        stream_id=name,
        model="tts-rt-v2",
        language="en",
        voice="Adrian",
        audio_format="pcm_s16le",
        sample_rate=24000,
        return_timestamps=True,
    )


try:
    with client.realtime.tts.connect_multi_stream() as connection:
        unwanted = connection.open_stream(config=config("unwanted"))
        unwanted.send_text_chunk("this is not wanted " * 20, text_end=True)
        connection.keep_alive()
        wanted = connection.open_stream(config=config("wanted"))
        wanted.send_text_chunk("from new york ")
        wanted.send_text_chunk("to boston")
        wanted.finish()
        unwanted.cancel()
        for event in wanted.receive_events():
            seen["bytes"] += len(event.audio_bytes() or b"")
            if event.timestamps:
                seen["text"] += "".join(event.timestamps.characters)
        for event in unwanted.receive_events():
            seen["cancelled"] += len(event.audio_bytes() or b"")
except Exception as e:
    seen["error"] = type(e).__name__ + ": " + str(e)
print(json.dumps(seen))
