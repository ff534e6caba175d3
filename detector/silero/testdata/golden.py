# Makes golden_v5.json and golden_v6.json: the probabilities that onnxruntime
# computes with the original models, window by window.
#
#   python3 -m venv venv && venv/bin/pip install onnxruntime numpy
#   venv/bin/python golden.py silero_vad_v6.onnx DATA > golden_v6.json
#
# DATA is the folder of the shared recordings. The synthetic signal is computed
# in whole numbers, so that synthetic_test.go makes exactly the same one.
import hashlib, json, sys, wave
import numpy as np, onnxruntime

RECORDINGS = ["misc-audio/silero_test_60s.wav", "esc10-noise/chainsaw/1-116765-A.wav"]

# Resonators of three vowels: 2 r cos w and -r*r, times 2^14.
VOWELS = [
    [(31063, -16002), (29289, -15815), (18403, -15630)],
    [(32202, -16002), (20030, -15815), (12132, -15630)],
    [(32160, -16002), (30333, -15815), (20401, -15630)],
]


def synthetic():
    out, seed, phase, period = [], 1, 0, 0
    mem = [[0, 0], [0, 0], [0, 0]]
    for n in range(8 * 16000):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        noise = (seed >> 16) - 32768
        second, x = n // 16000, 0
        if second in (1, 2, 3, 6, 7):
            at = n % 4000  # a syllable of a quarter of a second
            envelope = min(at, 4000 - at, 800)
            if phase >= period:
                phase, period = 0, 120 + (n // 50) % 40
                x = envelope * 8
            phase += 1
            x += (noise * envelope) >> 17
            for (a1, a2), m in zip(VOWELS[n // 4000 % 3], mem):
                y = x + ((a1 * m[0] + a2 * m[1]) >> 14)
                m[0], m[1] = y, m[0]
                x = y >> 2
        if second in (4, 6, 7):
            x += noise >> 6
        if second == 5:
            x = 3000 if n % 36 < 18 else -3000
        out.append(max(-32768, min(32767, x)))
    return np.array(out, np.int16)


def probabilities(session, pcm):
    x = pcm.astype(np.float32) / 32768
    state, context, out = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
    for i in range(0, len(x) - 511, 512):
        chunk = x[i : i + 512]
        p, state = session.run(None, {"input": np.concatenate([context, chunk])[None], "state": state, "sr": np.array(16000, np.int64)})
        context = chunk[-64:]
        out.append(round(float(p[0, 0]), 6))
    return out


def main():
    model, data = sys.argv[1], sys.argv[2]
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    signals = {"synthetic": probabilities(session, synthetic())}
    for name in RECORDINGS:
        with wave.open(data + "/" + name) as w:
            assert w.getframerate() == 16000 and w.getnchannels() == 1 and w.getsampwidth() == 2
            signals[name] = probabilities(session, np.frombuffer(w.readframes(w.getnframes()), np.int16))
    digest = hashlib.sha256(open(model, "rb").read()).hexdigest()
    json.dump({"model": digest, "onnxruntime": onnxruntime.__version__, "signals": signals}, sys.stdout, indent=None, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
