"""What the clients in Python share: the results that the Go test reads, a log of
events, and a microphone."""

import asyncio
import json
import os
import traceback

BASE = os.environ["SERVER"]  # http://host:port
WS = BASE.replace("http", "ws", 1)
KEY = os.environ["KEY"]
RATE = 24000

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def sound(name):
    with open(os.path.join(os.environ["SOUNDS"], name + ".pcm"), "rb") as f:
        return f.read()


def expect(ok, what=""):
    if not ok:
        raise AssertionError(what)


async def check(id, what, f):
    """Run one check and tell how it came out."""
    try:
        await f()
        print(f"ok {id} {what}", flush=True)
    except Exception:
        print(f"failed {id} {what}: " + traceback.format_exc().replace("\n", " | "), flush=True)


def event(raw):
    """Hand an event of the server to the Go test, which holds it against the types."""
    print("event " + json.dumps(json.loads(raw)), flush=True)


class Log:
    """Log keeps events and waits for them, in order."""

    def __init__(self):
        self.events = []
        self.fresh = asyncio.Event()

    def add(self, kind, e=None):
        self.events.append((kind, e))
        self.fresh.set()

    def mark(self):
        return len(self.events)

    def types(self, since=0):
        return [kind for kind, _ in self.events[since:]]

    async def next(self, since, kind, ok=lambda e: True, limit=60):
        """The first event behind since that has the kind and for which ok holds."""

        async def look():
            i = since
            while True:
                for k, e in self.events[i:]:
                    i += 1
                    if k == kind and ok(e):
                        return e
                self.fresh.clear()
                await self.fresh.wait()

        try:
            return await asyncio.wait_for(look(), limit)
        except asyncio.TimeoutError:
            seen = list(dict.fromkeys(self.types(since)))
            raise AssertionError(f"no {kind}; came: {seen}") from None


class Microphone:
    """Microphone sends silence all the time, and what is said in between, every 40 ms."""

    def __init__(self, send):
        self.left = b""
        self.send = send
        self.task = asyncio.create_task(self.run())

    async def run(self):
        size = RATE // 25 * 2
        clock = asyncio.get_running_loop()
        due = clock.time()
        while True:
            piece, self.left = self.left[:size], self.left[size:]
            await self.send(piece.ljust(size, b"\0"))
            due += 0.04
            await asyncio.sleep(max(0, due - clock.time()))

    def say(self, name):
        self.left += sound(name)

    async def off(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
