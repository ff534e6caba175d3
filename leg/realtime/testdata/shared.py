"""Code of all clients in Python: the results that the Go test reads, a log of
events, a microphone, and what several clients check."""

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
    """Run one check and print its result."""
    try:
        await f()
        print(f"ok {id} {what}", flush=True)
    except Exception:
        print(f"failed {id} {what}: " + traceback.format_exc().replace("\n", " | "), flush=True)


def event(raw):
    """Print an event of the server, for the Go test to validate."""
    print("event " + json.dumps(json.loads(raw)), flush=True)


def member(e, *names):
    """Return a member of an event, which is a dictionary or an object."""
    for name in names:
        e = e[name] if isinstance(e, dict) else getattr(e, name)
    return e


class Log:
    """Log records events and waits for them, in order."""

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
        """Return the first event since a mark that has the kind and satisfies ok."""

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

    async def cancelled(self, since, response, limit=60):
        """Wait for the end of a response, which must be cancelled, and return it."""
        done = await self.next(since, "response.done", lambda e: member(e, "response", "id") == response, limit)
        expect(member(done, "response", "status") == "cancelled", done)
        return done

    async def completed(self, since, other):
        """Wait for the end of a response other than the given one, which must be completed."""
        await self.next(
            since, "response.done", lambda e: member(e, "response", "id") != other and member(e, "response", "status") == "completed"
        )

    def clean(self):
        """Check that there was no error."""
        faults = [e for kind, e in self.events if kind == "error"]
        expect(not faults, faults)


class Microphone:
    """Microphone sends silence, and recordings in between, every 40 ms."""

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


async def barge_in(log, mic, sound):
    """Interrupt a long answer by speaking. Return the mark before it, the id of its response, its
    first event of the kind sound, and the end of the response."""
    since = log.mark()
    mic.say("story")
    begun = member(await log.next(since, "response.created"), "response", "id")
    first = await log.next(since, sound)
    await asyncio.sleep(2)
    mic.say("flight")
    return since, begun, first, await log.cancelled(since, begun)
