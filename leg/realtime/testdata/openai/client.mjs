// npm openai against hocket: its WebSocket classes in both dialects, and REST.
import net from 'node:net';
import { require, base, secure, key, sound, check, assert, Log, Microphone, pause } from '../client.mjs';

const { OpenAI, BadRequestError, NotFoundError } = require('openai');
const { OpenAIRealtimeWS } = require('openai/realtime/ws');
const { OpenAIRealtimeWebSocket } = require('openai/realtime/websocket');
const { OpenAIRealtimeWS: Beta } = require('openai/beta/realtime/ws');

const client = new OpenAI({ apiKey: key, baseURL: base + '/v1' });
const { hostname: host, port } = new URL(base);
// The class asks for TLS, whatever the base URL; the connection may be plain.
const options = { createConnection: () => net.connect(Number(port), host) };

function follow(rt) {
  const log = new Log();
  rt.on('event', (e) => log.add(e));
  rt.on('error', (e) => log.add({ type: 'sdk error', e }));
  return log;
}

const weather = {
  type: 'function', name: 'get_weather', description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const user = (text) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

const rt = new OpenAIRealtimeWS({ model: 'mock', options }, client);
const log = follow(rt);
await check('O01', 'the SDK derives its URL from baseURL', async () => {
  assert(String(rt.url) === `wss://${host}:${port}/v1/realtime?model=mock`, String(rt.url));
});
await check('O02', 'OpenAIRealtimeWS connects; session.created', async () => {
  assert((await log.next(0, 'session.created')).session.model === 'mock');
});
await check('O03', 'session.update -> session.updated', async () => {
  rt.send({
    type: 'session.update',
    session: { type: 'realtime', output_modalities: ['text'], audio: { input: { turn_detection: null } } },
  });
  const e = await log.next(0, 'session.updated');
  assert(e.session.output_modalities[0] === 'text' && e.session.audio.input.turn_detection === null, e);
});
await check('O04', 'a text turn completes; the output_text.delta listener fires', async () => {
  const from = log.mark();
  let text = '';
  const listen = (e) => (text += e.delta);
  rt.on('response.output_text.delta', listen);
  rt.send(user('hello'));
  rt.send({ type: 'response.create' });
  const done = await log.next(from, 'response.done');
  rt.off('response.output_text.delta', listen);
  assert(done.response.status === 'completed' && text === done.response.output[0].content[0].text && text, done);
});
const mic = new Microphone((piece) => {
  rt.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
});
let spoken = 0;
await check('O05', 'a spoken turn: speech, commit, item, response, audio and transcript, done', async () => {
  rt.send({
    type: 'session.update',
    session: {
      type: 'realtime', output_modalities: ['audio'], tools: [weather],
      audio: { input: { turn_detection: { type: 'server_vad' }, transcription: { model: 'whisper-1' } } },
    },
  });
  spoken = log.mark();
  mic.say(sound('flight'));
  const done = await log.next(spoken, 'response.done');
  const types = log.types(spoken);
  for (const t of [
    'input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped', 'input_audio_buffer.committed',
    'conversation.item.added', 'response.created', 'response.output_audio.delta', 'response.output_audio_transcript.delta',
  ]) assert(types.includes(t), `no ${t}`);
  assert(done.response.status === 'completed', done);
});
await check('O06', 'the input transcription arrives', async () => {
  const e = await log.next(spoken, 'conversation.item.input_audio_transcription.completed');
  assert(/flight/.test(e.transcript), e);
});
await check('O05b', 'a tool call and its answer, by voice', async () => {
  const from = log.mark();
  mic.say(sound('weather'));
  const call = await log.next(from, 'response.function_call_arguments.done');
  await log.next(from, 'response.done');
  rt.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: call.call_id, output: 'sunny' } });
  rt.send({ type: 'response.create' });
  const done = await log.next(from, (e) => e.type === 'response.done' && e.response.output[0]?.type === 'message', 'answer');
  assert(/sunny/.test(done.response.output[0].content[0].transcript), done);
});
await check('O05c', 'a barge-in cancels the response, and what was not heard is cut', async () => {
  const from = log.mark();
  mic.say(sound('story'));
  await log.next(from, (e) => e.type === 'response.output_audio_transcript.delta', 'story');
  const first = await log.next(from, 'response.output_audio.delta');
  await pause(1600);
  mic.say(sound('flight'));
  const done = await log.next(from, (e) => e.type === 'response.done' && e.response.id === first.response_id, 'end');
  assert(done.response.status === 'cancelled' && done.response.status_details.reason === 'turn_detected', done);
  rt.send({ type: 'conversation.item.truncate', item_id: first.item_id, content_index: 0, audio_end_ms: 1000 });
  await log.next(from, 'conversation.item.truncated');
  await log.next(from, (e) => e.type === 'response.done' && e.response.status === 'completed', 'next answer');
});
mic.off();
await check('O07', 'an error surfaces as the SDK\'s error event', async () => {
  const from = log.mark();
  rt.send({ type: 'conversation.item.retrieve', item_id: 'nobody' });
  const { e } = await log.next(from, 'sdk error');
  assert(e.error?.code === 'item_retrieve_invalid_item_id' && /does not exist/.test(e.error.message), String(e));
});
await check('O08', 'every event is one of the SDK\'s', async () => {
  const fs = require('fs');
  const path = require('path');
  const known = fs.readFileSync(path.join(process.env.CLIENT_HOME, 'node_modules/openai/resources/realtime/realtime.d.ts'), 'utf8');
  for (const e of log.events) assert(e.type === 'sdk error' || known.includes(`type: '${e.type}'`), `unknown ${e.type}`);
  assert(log.events.filter((e) => e.type === 'sdk error').length === 1, 'more errors than the one that was asked for');
});
rt.close();

const native = new OpenAIRealtimeWebSocket(
  { model: 'mock', dangerouslyAllowBrowser: true },
  new OpenAI({ apiKey: key, baseURL: secure + '/v1', dangerouslyAllowBrowser: true }),
);
const seen = follow(native);
await check('O09', 'OpenAIRealtimeWebSocket (key in a subprotocol, TLS) connects', async () => {
  await seen.next(0, 'session.created');
});
await check('O10', 'a text turn over it', async () => {
  native.send({
    type: 'session.update',
    session: { type: 'realtime', output_modalities: ['text'], audio: { input: { turn_detection: null } } },
  });
  native.send(user('hello'));
  native.send({ type: 'response.create' });
  assert((await seen.next(0, 'response.done')).response.status === 'completed');
});
native.close();

const beta = new Beta({ model: 'mock', options }, client);
const old = follow(beta);
await check('O11', 'the beta OpenAIRealtimeWS connects; a flat session', async () => {
  const { session } = await old.next(0, 'session.created');
  assert(session.modalities.length === 2 && session.input_audio_format === 'pcm16' && !session.audio, session);
});
await check('O12', 'a beta turn has the beta events', async () => {
  beta.send({ type: 'session.update', session: { turn_detection: null } });
  beta.send(user('hello'));
  beta.send({ type: 'response.create' });
  const done = await old.next(0, 'response.done');
  const types = old.types();
  for (const t of ['response.audio.delta', 'response.audio_transcript.delta', 'conversation.item.created']) assert(types.includes(t), `no ${t}`);
  assert(done.response.output[0].content[0].type === 'audio', done);
});
beta.close();

let secret;
await check('H01', 'clientSecrets.create returns value, expires_at, session', async () => {
  secret = await client.realtime.clientSecrets.create({ session: { type: 'realtime', model: 'mock', instructions: 'Hm.' } });
  assert(secret.value.startsWith('ek_') && secret.expires_at > Date.now() / 1000 && secret.session.id, secret);
});
await check('H02', 'expires_at honours expires_after.seconds', async () => {
  const s = await client.realtime.clientSecrets.create({ expires_after: { anchor: 'created_at', seconds: 60 }, session: { type: 'realtime' } });
  assert(Math.abs(s.expires_at - Date.now() / 1000 - 60) < 5, s);
});
await check('H03', 'the secret opens a session with its configuration', async () => {
  const rt = new OpenAIRealtimeWS({ model: 'mock', options }, new OpenAI({ apiKey: secret.value, baseURL: base + '/v1' }));
  const log = follow(rt);
  assert((await log.next(0, 'session.created')).session.instructions === 'Hm.');
  rt.close();
});
const fails = async (kind, promise) => {
  try {
    await promise;
  } catch (e) {
    assert(e instanceof kind && (e.error?.message || e.message), String(e));
    return e;
  }
  throw new Error('it did not fail');
};
await check('H04', 'a bad expires_after is a BadRequestError with its message', async () => {
  const e = await fails(BadRequestError, client.realtime.clientSecrets.create({ expires_after: { anchor: 'created_at', seconds: 1 } }));
  assert(e.error.message, e);
});
await check('H05', 'a client secret for transcription', async () => {
  const s = await client.realtime.clientSecrets.create({ session: { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1' } } } } });
  assert(s.value.startsWith('ek_') && s.session.type === 'transcription', s);
});
await check('H06', 'calls.create with a bad SDP is a 4xx with a body', async () => {
  try {
    await client.realtime.calls.create({ sdp: 'nonsense' });
  } catch (e) {
    assert(e.status >= 400 && e.status < 500 && e.status !== 404 && e.error?.message, String(e));
    return;
  }
  throw new Error('it did not fail');
});
await check('H07', 'calls.hangup of an unknown call is a 404 with a body', async () => {
  const e = await fails(NotFoundError, client.realtime.calls.hangup('rtc_nobody'));
  assert(e.error?.message, e);
});
process.exit(0);
