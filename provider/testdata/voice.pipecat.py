"""Pipecat's service for the vendor VENDOR, unmodified, against its fake: two texts over one
connection, the first of which is interrupted. Prints what was heard."""

import asyncio
import json
import os

from loguru import logger
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    InterruptionTaskFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.cartesia.tts import CartesiaTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService

logger.remove()
seen = {"bytes": 0, "cancelled": 0, "words": [], "error": None}


class Sink(FrameProcessor):
    """Sink records what would be played, and interrupts the first text."""

    def __init__(self):
        super().__init__()
        self.interrupted = False
        self.ended = asyncio.Event()

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            if self.interrupted:
                seen["bytes"] += len(frame.audio)
            else:
                seen["cancelled"] += len(frame.audio)
                self.interrupted = True
                await self.push_frame(InterruptionTaskFrame(), FrameDirection.UPSTREAM)
        elif isinstance(frame, TTSTextFrame) and self.interrupted:
            seen["words"].append(frame.text)
        elif isinstance(frame, TTSStoppedFrame) and seen["bytes"]:
            self.ended.set()
        await self.push_frame(frame, direction)


async def main():
    kind, model = {
        "cartesia": (CartesiaTTSService, "sonic-3.5"),
        "elevenlabs": (ElevenLabsTTSService, "eleven_flash_v2_5"),
    }[os.environ["VENDOR"]]
    service = kind(
        api_key=os.environ["KEY"],
        url=os.environ["URL"],
        sample_rate=24000,
        settings=kind.Settings(voice="somebody", model=model),
    )
    sink = Sink()
    task = PipelineTask(Pipeline([service, sink]), params=PipelineParams(audio_out_sample_rate=24000), cancel_on_idle_timeout=False)
    failed = asyncio.Event()

    @task.event_handler("on_pipeline_error")
    async def on_error(task, frame: ErrorFrame):
        seen["error"] = seen["error"] or str(frame.error)
        failed.set()

    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))

    async def talk():
        await task.queue_frames([TTSSpeakFrame("This is not wanted at all.")])
        while not sink.interrupted:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        seen["words"].clear()
        await task.queue_frames([TTSSpeakFrame("from new york to boston.")])
        await sink.ended.wait()

    done, rest = await asyncio.wait(
        [asyncio.create_task(talk()), asyncio.create_task(failed.wait())], timeout=20, return_when=asyncio.FIRST_COMPLETED
    )
    if not done:
        seen["error"] = seen["error"] or "nothing was heard in time"
    for r in rest:
        r.cancel()
    await task.queue_frames([EndFrame()])
    await asyncio.wait([running], timeout=5)


asyncio.run(main())
print(json.dumps(seen))
os._exit(0)
