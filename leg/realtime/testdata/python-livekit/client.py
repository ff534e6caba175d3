"""LiveKit's model for the protocol against hocket, without a room."""

import asyncio

import aiohttp
from livekit import rtc
from livekit.agents import llm
from livekit.plugins.openai import realtime
from openai.types.beta.realtime.session import TurnDetection
from shared import BASE, KEY, RATE, Log, Microphone, barge_in, check, expect


@llm.function_tool
async def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def frame(pcm):
    return rtc.AudioFrame(data=pcm, sample_rate=RATE, num_channels=1, samples_per_channel=len(pcm) // 2)


async def content(generation):
    """Return a generation's words, its bytes of sound, its calls and the ids of its messages."""
    text, size, calls, ids = "", 0, [], []

    async def messages():
        nonlocal text, size
        async for m in generation.message_stream:
            ids.append(m.message_id)

            async def words(m=m):
                nonlocal text
                async for t in m.text_stream:
                    text += t

            async def sound(m=m):
                nonlocal size
                async for f in m.audio_stream:
                    size += len(f.data)

            await asyncio.gather(words(), sound())

    async def functions():
        async for f in generation.function_stream:
            calls.append(f)

    await asyncio.wait_for(asyncio.gather(messages(), functions()), 60)
    return text, size, calls, ids


async def main():
    async with aiohttp.ClientSession() as http:
        model = realtime.RealtimeModel(
            base_url=BASE + "/v1", api_key=KEY, model="mock", http_session=http,
            turn_detection=TurnDetection(type="server_vad", create_response=True, interrupt_response=True),
        )
        session = model.session()
        log = Log()
        for kind in ("input_speech_started", "input_speech_stopped", "input_audio_transcription_completed", "generation_created", "error"):
            session.on(kind, lambda e, kind=kind: log.add(kind, e))
        session.on("openai_server_event_received", lambda e: log.add(e["type"], e))

        async def connected():
            await log.next(0, "session.updated")
            await session.update_instructions("Be brief.")
            e = await log.next(0, "session.updated", lambda e: e["session"]["instructions"] == "Be brief.")
            expect(e["session"]["model"] == "mock", e)

        async def history():
            chat = llm.ChatContext.empty()
            chat.add_message(role="user", content="My name is Ann.", id="mine_1")
            chat.add_message(role="assistant", content="Hello, Ann.", id="mine_2")
            await asyncio.wait_for(session.update_chat_ctx(chat), 10)
            expect([i.id for i in session.chat_ctx.items][:2] == ["mine_1", "mine_2"], session.chat_ctx.items)
            chat = session.chat_ctx.copy()
            chat.items = [i for i in chat.items if i.id != "mine_1"]
            await asyncio.wait_for(session.update_chat_ctx(chat), 10)
            expect("mine_1" not in [i.id for i in session.chat_ctx.items], session.chat_ctx.items)

        async def reply():
            generation = await asyncio.wait_for(session.generate_reply(instructions="Say something."), 10)
            text, size, _, _ = await content(generation)
            expect(text and size > RATE, (text, size))

        async def spoken():
            since = log.mark()
            mic.say("flight")
            for kind in ("input_speech_started", "input_speech_stopped"):
                await log.next(since, kind)
            generation = await log.next(since, "generation_created")
            expect(not generation.user_initiated, generation)
            text, size, _, _ = await content(generation)
            expect(text and size > RATE, (text, size))
            e = await log.next(since, "input_audio_transcription_completed", lambda e: e.is_final)
            expect("flight" in e.transcript, e)
            expect(any(i.type == "message" and i.role == "user" and "flight" in (i.text_content or "") for i in session.chat_ctx.items), session.chat_ctx.items)

        async def tool():
            since = log.mark()
            await session.update_tools([get_weather])
            e = await log.next(since, "session.updated", lambda e: e["session"]["tools"])
            expect(e["session"]["instructions"] == "Be brief.", e)
            mic.say("weather")
            generation = await log.next(since, "generation_created")
            _, _, calls, _ = await content(generation)
            expect(len(calls) == 1 and calls[0].name == "get_weather" and calls[0].arguments == '{"city":"Paris"}', calls)
            chat = session.chat_ctx.copy()
            chat.items.append(llm.FunctionCallOutput(call_id=calls[0].call_id, name="get_weather", output="sunny in Paris", is_error=False))
            await asyncio.wait_for(session.update_chat_ctx(chat), 10)
            text, _, _, _ = await content(await asyncio.wait_for(session.generate_reply(), 10))
            expect("sunny in Paris" in text, text)

        async def interrupted():
            since, begun, _, _ = await barge_in(log, mic, "response.output_audio.delta")
            expect(log.types(since).count("input_speech_started") >= 2, log.types(since))
            await log.completed(since, begun)

        async def truncate():
            since = log.mark()
            chat = session.chat_ctx.copy()
            chat.add_message(role="user", content="tell me a story")
            await asyncio.wait_for(session.update_chat_ctx(chat), 10)
            await asyncio.wait_for(session.generate_reply(), 10)
            first = await log.next(since, "response.output_audio.delta")
            await asyncio.sleep(1.5)
            session.interrupt()
            session.truncate(message_id=first["item_id"], modalities=["audio"], audio_end_ms=1000)
            done = await log.next(since, "response.done")
            expect(done["response"]["status"] == "cancelled", done)
            await log.next(since, "conversation.item.truncated")

        async def manual():
            since = log.mark()
            session.update_options(turn_detection=None)
            await log.next(since, "session.updated", lambda e: e["session"]["audio"]["input"]["turn_detection"] is None)
            mic.say("flight")
            await asyncio.sleep(2.5)
            session.commit_audio()
            e = await log.next(since, "input_audio_transcription_completed", lambda e: e.is_final)
            expect("flight" in e.transcript, e)
            text, size, _, _ = await content(await asyncio.wait_for(session.generate_reply(), 10))
            expect(text and size, (text, size))

        async def idle():
            session.interrupt()
            await asyncio.sleep(0.5)

        async def clean():
            log.clean()

        async def push(pcm):
            session.push_audio(frame(pcm))

        await check("L01", "connects; update_instructions", connected)
        await check("L02", "update_chat_ctx adds and removes, ids kept", history)
        await check("L03", "generate_reply: words and sound", reply)
        mic = Microphone(push)
        await check("L04", "a spoken turn, and the user's words in the chat context", spoken)
        await check("L05", "a function call, its output, and the answer", tool)
        await check("L06", "barge-in: cancelled, the next answer", interrupted)
        await check("L07", "interrupt() and truncate()", truncate)
        await check("L08", "detection off; commit_audio and generate_reply", manual)
        await check("L09", "interrupt() where nothing is said", idle)
        await mic.off()
        await check("L10", "no errors reached the app", clean)
        await session.aclose()
        await model.aclose()


asyncio.run(main())
