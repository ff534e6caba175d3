"""pipecat's service for the protocol against hocket, in a pipeline with the aggregators that
its users have."""

import asyncio

from loguru import logger
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    ErrorFrame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from shared import KEY, RATE, WS, Log, Microphone, barge_in, check, expect

logger.remove()
log = Log()


class Told(OpenAIRealtimeLLMService):
    """The service, which also records its events."""

    async def push_frame(self, frame, direction=FrameDirection.DOWNSTREAM):
        if isinstance(frame, ErrorFrame):
            log.add("error", frame)
        await super().push_frame(frame, direction)

    async def _handle_evt_response_created(self, evt):
        log.add("response.created", evt)
        await super()._handle_evt_response_created(evt)

    async def _handle_evt_response_done(self, evt):
        log.add("response.done", evt)
        await super()._handle_evt_response_done(evt)

    async def _handle_evt_session_updated(self, evt):
        log.add("session.updated", evt)
        await super()._handle_evt_session_updated(evt)

    async def handle_evt_input_audio_transcription_completed(self, evt):
        log.add("transcription", evt)
        await super().handle_evt_input_audio_transcription_completed(evt)

    async def send_client_event(self, event):
        log.add("sent " + event.type, event)
        await super().send_client_event(event)


class Sink(FrameProcessor):
    """Sink records what would be played."""

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            log.add("sound", frame)
        elif isinstance(frame, TTSTextFrame):
            log.add("text", frame)
        elif isinstance(frame, InterruptionFrame):
            log.add("interruption", frame)
        await self.push_frame(frame, direction)


async def main():
    called = []

    async def get_weather(params):
        called.append(params.arguments["city"])
        await params.result_callback({"weather": "sunny"})

    service = Told(
        api_key=KEY,
        base_url=WS + "/v1/realtime",
        settings=OpenAIRealtimeLLMService.Settings(
            model="mock",
            session_properties=events.SessionProperties(
                instructions="Be brief.",
                audio=events.AudioConfiguration(
                    input=events.AudioInput(
                        transcription=events.InputAudioTranscription(model="whisper-1"), turn_detection=events.TurnDetection()
                    )
                ),
            ),
        ),
    )
    service.register_function("get_weather", get_weather)
    tools = ToolsSchema(standard_tools=[
        FunctionSchema(name="get_weather", description="The weather of a city.", properties={"city": {"type": "string"}}, required=["city"])
    ])
    context = LLMContext([{"role": "user", "content": "hello"}], tools)
    pair = LLMContextAggregatorPair(context)
    task = PipelineTask(
        Pipeline([pair.user(), service, Sink(), pair.assistant()]),
        params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE),
        cancel_on_idle_timeout=False,
    )
    runner = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))

    async def begun():
        await task.queue_frames([LLMContextFrame(context)])
        e = await log.next(0, "session.updated", lambda e: e.session.tools)
        expect(e.session.model == "mock" and e.session.instructions == "Be brief.", e)
        done = await log.next(0, "response.done")
        expect(done.response.status == "completed" and done.response.usage.input_tokens >= 0, done)
        expect("sound" in log.types() and "text" in log.types(), log.types())

    async def spoken():
        since = log.mark()
        mic.say("flight")
        done = await log.next(since, "response.done")
        expect(done.response.status == "completed", done)
        e = await log.next(since, "transcription")
        expect("flight" in e.transcript, e)

    async def tool():
        since = log.mark()
        mic.say("weather")
        await log.next(since, "sent conversation.item.create", lambda e: e.item.type == "function_call_output")
        done = await log.next(since, "response.done", lambda e: e.response.output and e.response.output[0].type == "message")
        expect("sunny" in done.response.output[0].content[0].transcript and called == ["Paris"], (done, called))

    async def interrupted():
        since, begun, _, _ = await barge_in(log, mic, "sound")
        await log.next(since, "interruption")
        await log.next(since, "sent conversation.item.truncate")
        await log.completed(since, begun)

    async def quiet():
        since = log.mark()
        await service.send_client_event(events.ResponseCancelEvent())  # not fatal to the service
        await asyncio.sleep(0.5)
        mic.say("flight")
        await log.next(since, "response.done")

    async def clean():
        log.clean()

    await check("T01", "the session, its tools, and the first answer", begun)
    mic = Microphone(lambda pcm: task.queue_frame(InputAudioRawFrame(audio=pcm, sample_rate=RATE, num_channels=1)))
    await check("T02", "a spoken turn, and the user's words", spoken)
    await check("T03", "the function runs and its result is told", tool)
    await check("T04", "barge-in: interruption, truncate, cancelled, the next answer", interrupted)
    await check("T05", "response.cancel with nothing to cancel is not fatal", quiet)
    await mic.off()
    await check("T06", "no errors reached the pipeline", clean)
    await task.cancel()
    await asyncio.gather(runner, return_exceptions=True)


asyncio.run(main())
