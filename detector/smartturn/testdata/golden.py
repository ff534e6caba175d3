"""Computes golden.json with the reference: the features of the Python package pipecat-ai and
the network by onnxruntime.

    pip download --no-deps pipecat-ai==1.14.0 && unzip pipecat_ai-*.whl 'pipecat/audio/turn/*'
    pip install numpy onnxruntime==1.32.0
    python3 golden.py pipecat/audio/turn/smart_turn

The recordings are read from the folder shared/data beside the repository. Every 397th feature
is kept.
"""
import json
import os
import sys
import wave

import numpy as np
import onnxruntime

folder = sys.argv[1]
sys.path.insert(0, folder)
import _whisper_features  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))
data = os.path.join(here, *[".."] * 4, "shared", "data")
STEP = 397


def synthetic(n):
    """The sound of synthetic in the test: a chirp and noise, in bursts."""
    out, seed = [], 1
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2**31
        phase = (i * i // 4000) % 200
        tone = (phase if phase < 100 else 200 - phase) * 160 - 8000
        loud = 1 if (i // 4000) % 3 else 0
        out.append(tone * loud + (seed >> 16) % 200 - 100)
    return np.array(out, dtype=np.int16)


def recording(name):
    with wave.open(os.path.join(data, name)) as f:
        assert (f.getframerate(), f.getnchannels(), f.getsampwidth()) == (16000, 1, 2), name
        return np.frombuffer(f.readframes(f.getnframes()), dtype=np.int16)


signals = {
    "synthetic short": synthetic(30000),
    "synthetic": synthetic(150000),
    "silence": np.zeros(16000, dtype=np.int16),
    "tau2-voice/hi_how_are_you.wav": recording("tau2-voice/hi_how_are_you.wav"),
    "tau2-voice/check_order_12345.wav": recording("tau2-voice/check_order_12345.wav"),
}
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(os.path.join(folder, "data", "smart-turn-v3.2-cpu.onnx"), options)
golden = {"step": STEP, "signals": {}}
for name, pcm in signals.items():
    x = (pcm.astype(np.float32) / 32768.0)[-128000:]
    x = np.pad(x, (128000 - len(x), 0))
    features = _whisper_features.compute_whisper_log_mel_features(x)
    p = session.run(None, {"input_features": features[None]})[0][0].item()
    golden["signals"][name] = {
        "samples": len(pcm),
        "finished": round(p, 6),
        "features": [round(float(v), 5) for v in features.reshape(-1)[::STEP]],
    }
with open(os.path.join(here, "golden.json"), "w") as f:
    json.dump(golden, f, separators=(",", ":"))
    f.write("\n")
