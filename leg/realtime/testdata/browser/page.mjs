// In the browser: the Agents SDK over WebRTC, then npm openai's.
import { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebRTC } from '/node_modules/@openai/agents-realtime/dist/bundle/openai-realtime-agents.mjs';
import { OpenAIRealtimeWebRTC as Plain } from '/node_modules/openai/realtime/webrtc.mjs';

const query = new URLSearchParams(location.search);
const server = query.get('server');
const key = query.get('key');

async function check(id, what, f) {
  try {
    await f();
    console.log(`ok ${id} ${what}`);
  } catch (e) {
    console.log(`failed ${id} ${what}: ${String(e?.stack ?? e).replaceAll('\n', ' | ')}`);
  }
}
const assert = (ok, what) => {
  if (!ok) throw new Error(typeof what === 'string' ? what : JSON.stringify(what));
};
const pause = (ms) => new Promise((r) => setTimeout(r, ms));

class Log {
  events = [];
  add(e) {
    this.events.push(e);
  }
  async next(from, ok, limit = 20000) {
    const test = typeof ok === 'string' ? (e) => e.type === ok : ok;
    for (const end = Date.now() + limit; Date.now() < end; await pause(10)) {
      const e = this.events.find((e, i) => i >= from && test(e));
      if (e) return e;
    }
    throw new Error(`no ${ok}; came: ${[...new Set(this.events.slice(from).map((e) => e.type))].join(', ')}`);
  }
  at(e) {
    return this.events.indexOf(e);
  }
}

// The microphone: silence, and what is said.
const context = new AudioContext({ sampleRate: 48000 });
const microphone = context.createMediaStreamDestination();
const say = async (name) => {
  const pcm = new Int16Array(await (await fetch(`/sounds/${name}.pcm`)).arrayBuffer());
  const buffer = context.createBuffer(1, pcm.length, 24000);
  buffer.getChannelData(0).set(Float32Array.from(pcm, (v) => v / 32768));
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(microphone);
  source.start();
};

const log = new Log();
const errors = [];
const sink = document.createElement('audio');
const agent = new RealtimeAgent({ name: 'first', instructions: 'You are the first.' });
const transport = new OpenAIRealtimeWebRTC({ baseUrl: server + '/v1/realtime/calls', mediaStream: microphone.stream, audioElement: sink, useInsecureApiKey: true });
transport.on('*', (e) => log.add(e));
const session = new RealtimeSession(agent, {
  transport, model: 'mock', config: { audio: { input: { transcription: { model: 'whisper-1' } } } },
});
session.on('error', (e) => errors.push(e));
session.on('audio_interrupted', () => log.add({ type: 'session:audio_interrupted' }));

await check('W01', 'session.connect(): offer, ICE, DTLS, channel, session.updated', async () => {
  await session.connect({ apiKey: await window.secret() });
});
await check('W02', 'the Location header gives a call id', () => assert(/^rtc_/.test(transport.callId), String(transport.callId)));
await check('W03', 'session.created is the first event', () => assert(log.events.find((e) => e.event_id)?.type === 'session.created', log.events[0]));
let done;
await check('W04', 'a spoken turn over RTP', async () => {
  await say('flight');
  for (const t of ['input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped', 'input_audio_buffer.committed', 'response.created']) await log.next(0, t);
  done = await log.next(0, 'response.done');
  assert(done.response.status === 'completed', done);
});
await check('W06', 'output_audio_buffer.started and .stopped bracket the answer', async () => {
  const started = await log.next(0, 'output_audio_buffer.started');
  const stopped = await log.next(0, 'output_audio_buffer.stopped');
  assert(started.response_id === done.response.id && stopped.response_id === done.response.id, [started, stopped]);
  assert(log.at(stopped) > log.at(done), 'stopped before response.done');
});
await check('W09', 'transcript deltas arrive on the channel', () => log.next(0, 'response.output_audio_transcript.delta'));
let level = 0;
await check('W07', 'the answer is audible on the remote track', async () => {
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(sink.srcObject).connect(analyser);
  const from = log.events.length;
  const buffer = new Float32Array(analyser.fftSize);
  await say('story');
  await log.next(from, 'output_audio_buffer.started');
  for (let i = 0; i < 60 && level < 0.02; i++) {
    analyser.getFloatTimeDomainData(buffer);
    level = Math.max(level, ...buffer.map(Math.abs));
    await pause(20);
  }
  assert(level > 0.02, `level ${level}`);
});
await check('W16', 'a voice over the answer: cleared after speech_started, and truncated by the server', async () => {
  await say('flight');
  const cleared = await log.next(0, 'output_audio_buffer.cleared');
  const before = log.events.slice(0, log.at(cleared)).findLast((e) => e.type === 'input_audio_buffer.speech_started' || e.type === 'output_audio_buffer.started');
  assert(before.type === 'input_audio_buffer.speech_started', before);
  const end = await log.next(0, (e) => e.type === 'response.done' && e.response.id === cleared.response_id);
  assert(end.response.status === 'cancelled', end);
  await log.next(0, 'conversation.item.truncated');
  await log.next(log.at(end), (e) => e.type === 'response.done' && e.response.status === 'completed');
});
await check('W08', 'session.interrupt() cancels and clears', async () => {
  const from = log.events.length;
  session.sendMessage('tell me a story');
  const started = await log.next(from, 'output_audio_buffer.started');
  await pause(1000);
  session.interrupt();
  const end = await log.next(from, (e) => e.type === 'response.done' && e.response.id === started.response_id);
  assert(end.response.status === 'cancelled', end);
  await log.next(from, 'output_audio_buffer.cleared');
});
await check('W05', 'no sound on the channel', () => assert(!log.events.some((e) => e.type === 'response.output_audio.delta')));
await check('W10', 'no error events', () => assert(errors.length === 0 && !log.events.some((e) => e.type === 'error'), [errors, log.events.filter((e) => e.type === 'error')]));
session.close();

const plain = new Plain();
const seen = new Log();
plain.onEvent((e) => seen.add(e));
plain.peerConnection.addTrack((await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks()[0]);
await check('W12', 'npm openai connects (multipart offer and session); 201 application/sdp', async () => {
  await plain.connect({
    exchangeSdp: async (offer, { signal }) => {
      const form = new FormData();
      form.set('sdp', offer);
      form.set('session', JSON.stringify({ type: 'realtime', model: 'mock', instructions: 'Hm.', audio: { input: { turn_detection: null } } }));
      const r = await fetch(server + '/v1/realtime/calls', { method: 'POST', headers: { Authorization: `Bearer ${key}` }, body: form, signal });
      assert(r.status === 201 && r.headers.get('Content-Type') === 'application/sdp', `${r.status}`);
      return r.text();
    },
  });
});
await check('W14', 'the session part is applied', async () => {
  const e = await seen.next(0, 'session.created');
  assert(e.session.instructions === 'Hm.' && e.session.audio.input.turn_detection === null, e);
});
await check('W13', 'a text turn over its channel', async () => {
  plain.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
  plain.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] } });
  plain.send({ type: 'response.create' });
  assert((await seen.next(0, 'response.done')).response.status === 'completed');
});
plain.close();
for (const e of [...log.events, ...seen.events]) if (e.event_id) console.log(`event ${JSON.stringify(e)}`);
await window.finished();
