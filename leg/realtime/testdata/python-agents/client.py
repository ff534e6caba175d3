"""OpenAI's Agents SDK for Python against hocket."""

import asyncio

from agents import function_tool, set_tracing_disabled
from agents.realtime import RealtimeAgent, RealtimeRunner
from shared import KEY, WS, Log, Microphone, barge_in, check, expect

set_tracing_disabled(True)
called = []


@function_tool
async def get_weather(city: str) -> str:
    """The weather of a city."""
    called.append(city)
    return f"sunny in {city}"


second = RealtimeAgent(name="second", instructions="You are the second.")
first = RealtimeAgent(name="first", instructions="You are the first.", tools=[get_weather], handoffs=[second])


def settings(**more):
    return {
        "model_name": "mock",
        "audio": {"input": {"transcription": {"model": "whisper-1"}, "turn_detection": {"type": "server_vad", **more}}},
    }


async def hold(url, detection, f):
    """Run f with a conversation and a log of the session's own events and the raw ones."""
    runner = RealtimeRunner(starting_agent=first, config={"model_settings": settings(**detection)})
    session = await runner.run(model_config={"url": url, "api_key": KEY, "initial_model_settings": settings(**detection)})
    log = Log()
    async with session:

        async def read():
            async for e in session:
                log.add(e.type, e)
                if e.type == "raw_model_event" and e.data.type == "raw_server_event":
                    log.add(e.data.data["type"], e.data.data)

        reader = asyncio.create_task(read())
        await f(session, log)
        reader.cancel()
    return log


async def main():
    async def body(session, log):
        answers = lambda: [i for i in session._history if i.type == "message" and i.role == "assistant"]

        async def connected():
            e = await log.next(0, "session.updated")
            expect(e["session"]["audio"]["input"]["turn_detection"]["interrupt_response"] is True, e)
            expect([t["name"] for t in e["session"]["tools"]] == ["get_weather", "transfer_to_second"], e)

        async def text():
            since = log.mark()
            await session.send_message("hello")
            await log.next(since, "audio")
            await log.next(since, "agent_end")
            await log.next(since, "response.done")
            await asyncio.sleep(0.2)
            expect(answers()[-1].status == "completed" and "an answer" in answers()[-1].content[0].transcript, answers())

        async def spoken():
            since = log.mark()
            mic.say("flight")
            for kind in ("input_audio_buffer.speech_started", "input_audio_buffer.committed", "response.created", "audio", "agent_end"):
                await log.next(since, kind)
            await asyncio.sleep(0.2)
            said = [i for i in session._history if i.type == "message" and i.role == "user"][-1]
            expect("flight" in (said.content[0].transcript or ""), said)

        async def tool():
            since = log.mark()
            mic.say("weather")
            await log.next(since, "tool_end")
            done = await log.next(since, "response.done", lambda e: e["response"]["output"] and e["response"]["output"][0]["type"] == "message")
            expect("sunny in Paris" in done["response"]["output"][0]["content"][0]["transcript"], done)
            expect(called == ["Paris"], called)

        async def interrupted():
            since, begun, _, _ = await barge_in(log, mic, "audio")
            await log.next(since, "audio_interrupted")
            await log.next(since, "conversation.item.truncated")
            await log.completed(since, begun)

        async def interrupt():
            since = log.mark()
            await session.send_message("tell me a story")
            begun = await log.next(since, "response.created")
            await log.next(since, "audio")
            await asyncio.sleep(1.5)
            await session.interrupt()
            await log.next(since, "audio_interrupted")
            await log.cancelled(since, begun["response"]["id"], limit=5)

        async def update():
            since = log.mark()
            await session.update_agent(second)
            e = await log.next(since, "session.updated")
            expect(e["session"]["instructions"] == "You are the second." and e["session"]["tools"] == [], e)

        async def clean():
            log.clean()

        await check("Q01", "session.updated has interrupt_response and the tools", connected)
        await check("Q02", "a text message: audio, agent_end, history", text)
        mic = Microphone(session.send_audio)
        await check("Q03", "a spoken turn, and the user's words in the history", spoken)
        await check("Q04", "the tool runs and its result is told", tool)
        await check("Q05", "barge-in: audio_interrupted, cancelled, truncated, the next answer", interrupted)
        await check("Q06", "session.interrupt() stops the speech", interrupt)
        await check("Q07", "update_agent changes instructions and tools", update)
        await mic.off()
        await check("Q08", "no errors reached the app", clean)

    await hold(WS + "/v1/realtime?model=mock", {}, body)

    async def unnamed(session, log):
        async def named():
            e = await log.next(0, "session.updated")
            expect(e["session"]["model"] == "mock" and e["session"]["instructions"] == "You are the first.", e)
            log.clean()

        await check("Q09", "an address without a model: the session names it", named)

    await hold(WS + "/v1/realtime", {}, unnamed)

    async def without(session, log):
        async def alone():
            await log.next(0, "session.updated")
            mic = Microphone(session.send_audio)
            await session.send_message("tell me a story")
            begun = await log.next(0, "response.created")
            await log.next(0, "audio")
            await asyncio.sleep(1)
            await session.interrupt()  # the SDK truncates and cancels by itself
            await log.cancelled(0, begun["response"]["id"], limit=5)
            await mic.off()
            log.clean()

        await check("Q10", "interrupt() where the server does not interrupt", alone)

    await hold(WS + "/v1/realtime?model=mock", {"interrupt_response": False}, without)


asyncio.run(main())
