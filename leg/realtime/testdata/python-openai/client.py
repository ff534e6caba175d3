"""OpenAI's library for Python against hocket: both kinds of connections, and REST."""

import asyncio
import base64

from shared import BASE, KEY, WEATHER, Log, Microphone, barge_in, check, event, expect, sound
from openai import AsyncOpenAI, AuthenticationError, BadRequestError, NotFoundError, OpenAI
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

types = TypeAdapter(RealtimeServerEvent)
api = AsyncOpenAI(api_key=KEY, base_url=BASE + "/v1")


def user(text):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def follow(connection, log):
    """Record the events, and validate each with the library's own types."""

    async def read():
        while True:
            raw = await connection.recv_bytes()
            event(raw)
            e = types.validate_json(raw)
            log.add(e.type, e)

    return asyncio.create_task(read())


async def conversation():
    log = Log()
    async with api.realtime.connect(model="mock") as c:
        reader = follow(c, log)

        async def created():
            e = await log.next(0, "session.created")
            expect(e.session.model == "mock" and e.session.type == "realtime", e)

        async def text():
            await c.session.update(session={"type": "realtime", "output_modalities": ["text"], "audio": {"input": {"turn_detection": None}}})
            e = await log.next(0, "session.updated")
            expect(e.session.output_modalities == ["text"] and e.session.audio.input.turn_detection is None, e)
            since = log.mark()
            await c.conversation.item.create(item=user("hello"))
            await c.response.create(response={"metadata": {"mine": "1"}})
            done = await log.next(since, "response.done")
            said = "".join(e.delta for k, e in log.events[since:] if k == "response.output_text.delta")
            expect(done.response.status == "completed" and done.response.metadata == {"mine": "1"}, done)
            expect(said and said == done.response.output[0].content[0].text, said)

        async def faults():
            since = log.mark()
            await c.session.update(session={"type": "realtime", "instructions": "kept", "temperature": 0.8}, event_id="mine")
            e = await log.next(since, "error")
            expect(e.error.param == "session.temperature" and e.error.event_id == "mine", e)
            expect((await log.next(since, "session.updated")).session.instructions == "kept")
            await c.conversation.item.create(item={"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]})
            e = await log.next(since, "error", lambda e: e.error.param == "item.content[0].type")
            await c.conversation.item.retrieve(item_id="nobody")
            await log.next(since, "error", lambda e: e.error.code == "item_retrieve_invalid_item_id")

        async def spoken():
            await c.session.update(session={
                "type": "realtime", "output_modalities": ["audio"], "instructions": "", "tools": [WEATHER],
                "audio": {"input": {"turn_detection": {"type": "server_vad"}, "transcription": {"model": "whisper-1"}}},
            })
            since = log.mark()
            mic.say("flight")
            for kind in ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed", "response.created"):
                await log.next(since, kind)
            done = await log.next(since, "response.done")
            expect(done.response.status == "completed", done)
            pcm = b"".join(base64.b64decode(e.delta) for k, e in log.events[since:] if k == "response.output_audio.delta")
            expect(len(pcm) > 24000 and any(pcm), f"{len(pcm)} bytes of sound")
            said = "".join(e.delta for k, e in log.events[since:] if k == "response.output_audio_transcript.delta")
            expect(said == done.response.output[0].content[0].transcript, said)
            e = await log.next(since, "conversation.item.input_audio_transcription.completed")
            expect("flight" in e.transcript, e)

        async def tool():
            since = log.mark()
            mic.say("weather")
            call = await log.next(since, "response.function_call_arguments.done")
            expect(call.name == "get_weather" and call.arguments == '{"city":"Paris"}', call)
            await c.conversation.item.create(item={"type": "function_call_output", "call_id": call.call_id, "output": "sunny"})
            await c.response.create()
            done = await log.next(since, "response.done", lambda e: e.response.output and e.response.output[0].type == "message")
            expect("sunny" in done.response.output[0].content[0].transcript, done)

        async def interrupted():
            since, begun, first, done = await barge_in(log, mic, "response.output_audio.delta")
            expect(done.response.status_details.reason == "turn_detected", done)
            await c.conversation.item.truncate(item_id=first.item_id, content_index=0, audio_end_ms=1000)
            await log.next(since, "conversation.item.truncated")
            await log.completed(since, begun)

        async def truncate():
            since = log.mark()
            await c.conversation.item.create(item=user("tell me a story"))
            await c.response.create()
            first = await log.next(since, "response.output_audio.delta")
            await asyncio.sleep(1.5)
            await c.conversation.item.truncate(item_id=first.item_id, content_index=0, audio_end_ms=1000)
            done = await log.next(since, "response.done")
            expect(done.response.status == "cancelled", done)
            over = log.mark()
            await c.conversation.item.retrieve(item_id=first.item_id)
            it = (await log.next(over, "conversation.item.retrieved")).item
            expect(len(it.content[0].transcript) < 60, it)
            expect("response.output_audio.delta" not in log.types(over), "it speaks on")

        async def cancel():
            since = log.mark()
            await c.conversation.item.create(item=user("tell me a story"))
            await c.response.create()
            await log.next(since, "response.output_audio.delta")
            await c.response.create(event_id="second")
            e = await log.next(since, "error", lambda e: e.error.event_id == "second")
            expect(e.error.code == "conversation_already_has_active_response", e)
            await c.response.cancel()
            done = await log.next(since, "response.done")
            expect(done.response.status == "cancelled" and done.response.status_details.reason == "client_cancelled", done)
            await c.response.cancel()
            await log.next(since, "error", lambda e: e.error.code == "response_cancel_not_active")

        async def manual():
            since = log.mark()
            await c.session.update(session={"type": "realtime", "audio": {"input": {"turn_detection": None}}})
            await log.next(since, "session.updated")
            await mic.off()
            await c.input_audio_buffer.append(audio=base64.b64encode(sound("flight")).decode())
            await c.input_audio_buffer.commit()
            e = await log.next(since, "conversation.item.input_audio_transcription.completed")
            expect("flight" in e.transcript, e)
            await c.response.create(response={"output_modalities": ["text"], "conversation": "none", "metadata": {"beside": "1"}})
            done = await log.next(since, "response.done")
            expect(done.response.conversation_id is None and done.response.status == "completed", done)
            await c.input_audio_buffer.clear()
            await log.next(since, "input_audio_buffer.cleared")

        async def whole():
            expect(not reader.done(), "the reader has ended: " + str(reader.done() and reader.exception()))

        await check("P01", "connect; session.created", created)
        await check("P02", "session.update, and a text turn with metadata", text)
        await check("P03", "an unsupported field, an image and an unknown item are refused by name; the rest is kept", faults)
        mic = Microphone(lambda piece: c.input_audio_buffer.append(audio=base64.b64encode(piece).decode()))
        await check("P04", "a spoken turn with sound, transcript and the user's words", spoken)
        await check("P05", "a function call and its output", tool)
        await check("P06", "barge-in: cancelled by turn_detected, truncate, the next answer", interrupted)
        await check("P07", "truncate alone ends what is spoken", truncate)
        await check("P08", "a second response.create, and response.cancel", cancel)
        await check("P09", "a committed buffer without detection; a response beside the conversation", manual)
        await check("P10", "every event fits the library's types", whole)
        reader.cancel()


async def rest():
    async def secrets():
        made = await api.realtime.client_secrets.create(
            expires_after={"anchor": "created_at", "seconds": 60}, session={"type": "realtime", "model": "mock", "instructions": "From the secret."}
        )
        expect(made.value.startswith("ek_") and made.session.instructions == "From the secret.", made)
        async with AsyncOpenAI(api_key=made.value, base_url=BASE + "/v1").realtime.connect(model="mock") as c:
            e = await c.recv()
            expect(e.type == "session.created" and e.session.instructions == "From the secret.", e)
        try:
            await api.realtime.client_secrets.create(expires_after={"anchor": "created_at", "seconds": 5})
        except BadRequestError as e:
            expect(e.param == "expires_after.seconds", e)
        else:
            expect(False, "a secret of 5 s")

    async def models():
        listed = [m.id async for m in api.models.list()]
        expect(listed == ["mock"], listed)
        expect((await api.models.retrieve("mock")).id == "mock")
        try:
            await api.models.retrieve("gpt-9")
        except NotFoundError as e:
            expect(e.code == "model_not_found", e)
        else:
            expect(False, "gpt-9 was found")
        try:
            await AsyncOpenAI(api_key="wrong", base_url=BASE + "/v1", max_retries=0).models.list()
        except AuthenticationError as e:
            expect(e.code == "invalid_api_key", e)
        else:
            expect(False, "a wrong key was taken")

    async def wrong_key():
        async with AsyncOpenAI(api_key="wrong", base_url=BASE + "/v1").realtime.connect(model="mock") as c:
            e = await c.recv()
            expect(e.type == "error" and e.error.code == "invalid_api_key", e)

    async def transcription():
        async with api.realtime.connect(model="mock", extra_query={"intent": "transcription"}) as c:
            log = Log()
            reader = follow(c, log)
            await log.next(0, "session.created")
            await c.session.update(session={"type": "transcription", "audio": {"input": {"transcription": {"model": "whisper-1"}, "turn_detection": {"type": "server_vad"}}}})
            mic = Microphone(lambda piece: c.input_audio_buffer.append(audio=base64.b64encode(piece).decode()))
            mic.say("flight")
            e = await log.next(0, "conversation.item.input_audio_transcription.completed")
            expect("flight" in e.transcript, e)
            await asyncio.sleep(1)
            await mic.off()
            expect(not [k for k in log.types() if k.startswith("response.")], log.types())
            reader.cancel()

    async def blocking():
        def talk():
            with OpenAI(api_key=KEY, base_url=BASE + "/v1").realtime.connect(model="mock") as c:
                c.session.update(session={"type": "realtime", "output_modalities": ["text"]})
                c.conversation.item.create(item=user("hello"))
                c.response.create()
                text = ""
                for e in c:
                    if e.type == "response.output_text.delta":
                        text += e.delta
                    if e.type == "error":
                        raise AssertionError(e)
                    if e.type == "response.done":
                        return text, e

        text, done = await asyncio.to_thread(talk)
        expect(text == done.response.output[0].content[0].text, done)

    await check("P11", "client secrets, and a connection with one", secrets)
    await check("P12", "models.list and models.retrieve; a wrong key", models)
    await check("P13", "a connection with a wrong key gets an error", wrong_key)
    await check("P14", "a transcription session", transcription)
    await check("P15", "the blocking connection", blocking)


async def main():
    await conversation()
    await rest()


asyncio.run(main())
