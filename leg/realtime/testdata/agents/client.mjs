// The OpenAI Agents SDK against hocket, over WebSocket in Node.
import { require, base, key, sound, check, assert, Log, Microphone, pause } from '../client.mjs';

const { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebSocket, tool } = require('@openai/agents-realtime');
const { z } = require('zod');

const uncaught = [];
process.on('uncaughtException', (e) => uncaught.push(e));
process.on('unhandledRejection', (e) => uncaught.push(e));

let called = 0;
const weather = tool({
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    called++;
    return `sunny in ${city}`;
  },
});
const agent = new RealtimeAgent({ name: 'first', instructions: 'You are the first.', tools: [weather] });
const second = new RealtimeAgent({ name: 'second', instructions: 'You are the second.', tools: [] });

const transport = new OpenAIRealtimeWebSocket({ url: base.replace('http', 'ws') + '/v1/realtime?model=mock', useInsecureApiKey: true });
const sent = [];
const send = transport.sendEvent.bind(transport);
transport.sendEvent = (e) => {
  sent.push(e.type);
  return send(e);
};
const session = new RealtimeSession(agent, {
  transport,
  model: 'mock',
  config: { audio: { input: { transcription: { model: 'whisper-1' }, turnDetection: { type: 'server_vad' } } } },
});

const log = new Log(); // raw events of the transport, and the session's own as "session:..."
const errors = [];
transport.on('*', (e) => log.add(e));
session.on('error', (e) => errors.push(e));
for (const name of ['audio', 'agent_start', 'agent_end', 'audio_start', 'audio_stopped', 'audio_interrupted', 'agent_tool_start', 'agent_tool_end', 'history_updated']) {
  session.on(name, () => log.add({ type: 'session:' + name }));
}
const assistant = () => session.history.filter((i) => i.type === 'message' && i.role === 'assistant');

await check('A01', 'session.connect() resolves', () => session.connect({ apiKey: key }));
await check('A02', 'session.updated echoes interrupt_response', async () => {
  const e = await log.next(0, 'session.updated');
  assert(e.session.audio.input.turn_detection.interrupt_response === true, e);
});
await check('A03', "the SDK's two initial session.updates are accepted", async () => {
  const first = await log.next(0, 'session.updated');
  await log.next(log.events.indexOf(first) + 1, 'session.updated');
  assert(errors.length === 0, errors);
});
const text = log.mark();
await check('A04', 'a text message gives audio', async () => {
  session.sendMessage('hello');
  await log.next(text, 'session:audio');
});
await check('A05', 'the turn ends', () => log.next(text, 'session:agent_end'));
await check('A06', 'the history has the answer with its transcript, completed', async () => {
  await log.next(text, 'response.done');
  await pause(100);
  const item = assistant().at(-1);
  assert(item.status === 'completed' && /an answer/.test(item.content[0].transcript), item);
});
const mic = new Microphone((piece) => session.sendAudio(piece.buffer.slice(piece.byteOffset, piece.byteOffset + piece.length)));
const voice = log.mark();
await check('A07', 'a spoken turn: speech, commit, response, agent_end', async () => {
  mic.say(sound('flight'));
  for (const t of ['input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped', 'input_audio_buffer.committed', 'response.created', 'session:agent_end']) {
    await log.next(voice, t);
  }
});
await check('A08', 'the history has the user\'s words', async () => {
  await log.next(voice, 'conversation.item.retrieved');
  await pause(100);
  const item = session.history.filter((i) => i.type === 'message' && i.role === 'user').at(-1);
  assert(/flight/.test(item.content[0].transcript), item);
});
const tools = log.mark();
await check('A09', 'the tool is executed and its output sent back', async () => {
  mic.say(sound('weather'));
  await log.next(tools, 'session:agent_tool_end');
  await log.next(tools, (e) => e.type === 'conversation.item.done' && e.item.type === 'function_call_output', 'output');
  assert(called === 1, `called ${called} times`);
});
await check('A10', 'a second response follows the output', async () => {
  const done = await log.next(tools, (e) => e.type === 'response.done' && e.response.output[0]?.type === 'message', 'answer');
  assert(/sunny in Paris/.test(done.response.output[0].content[0].transcript), done);
});
const barge = log.mark();
let interrupted;
await check('A11', 'barge-in: audio_interrupted fires', async () => {
  mic.say(sound('story'));
  interrupted = await log.next(barge, 'response.created');
  await log.next(barge, 'session:audio');
  await pause(2000);
  const from = log.mark();
  mic.say(sound('flight'));
  await log.next(from, 'session:audio_interrupted');
});
await check('A12', 'barge-in: the response ends cancelled', async () => {
  const done = await log.next(barge, (e) => e.type === 'response.done' && e.response.id === interrupted.response.id, 'end');
  assert(done.response.status === 'cancelled', done);
});
await check('A13', 'barge-in: the SDK sends no response.cancel', async () => {
  assert(!sent.includes('response.cancel'));
});
await check('A14', "barge-in: the SDK's truncate is answered", async () => {
  const e = await log.next(barge, 'conversation.item.truncated');
  const item = assistant().find((i) => i.itemId === e.item_id);
  assert(item, e);
  await log.next(barge, (e) => e.type === 'response.done' && e.response.status === 'completed', 'next answer');
});
await check('A15', 'session.interrupt() cancels, and audio_interrupted fires', async () => {
  const from = log.mark();
  session.sendMessage('tell me a story');
  const created = await log.next(from, 'response.created');
  await log.next(from, 'session:audio');
  await pause(1000);
  session.interrupt();
  await log.next(from, 'session:audio_interrupted');
  const done = await log.next(from, (e) => e.type === 'response.done' && e.response.id === created.response.id, 'end');
  assert(done.response.status === 'cancelled', done);
});
await check('A16', 'updateAgent changes instructions and tools', async () => {
  const from = log.mark();
  await session.updateAgent(second);
  const e = await log.next(from, 'session.updated');
  assert(e.session.instructions === 'You are the second.' && e.session.tools.length === 0, e);
});
mic.off();
await pause(300);
await check('A17', 'no error events reached the app', () => assert(errors.length === 0, errors));
await check('A18', "no event failed the SDK's schemas", async () => {
  const { parseRealtimeEvent } = require(process.env.CLIENT_HOME + '/node_modules/@openai/agents-realtime/dist/openaiRealtimeEvents.js');
  for (const e of log.events) {
    if (e.type.startsWith('session:')) continue;
    const { isGeneric } = parseRealtimeEvent({ data: JSON.stringify(e) });
    assert(!isGeneric, e);
  }
});
await check('A19', 'no uncaught exceptions', () => assert(uncaught.length === 0, uncaught.map(String)));
session.close();
process.exit(0);
