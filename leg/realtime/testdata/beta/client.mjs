// Clients of the beta dialect against hocket: openai-realtime-api, OpenAI's former
// reference client with types, and rt-client, Microsoft's for Azure's preview.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { base, key, sound, check, assert, Log, Microphone, pause } from '../client.mjs';

const load = (file) => import(pathToFileURL(path.join(process.env.CLIENT_HOME, 'node_modules', file)));
const { RealtimeClient } = await load('openai-realtime-api/dist/index.js');
const { RTClient, LowLevelRTClient } = await load('rt-client/dist/esm/index.js');
const socket = base.replace('http', 'ws');
const thrown = [];
process.on('uncaughtException', (e) => thrown.push(e));
process.on('unhandledRejection', (e) => thrown.push(e));

const log = new Log();
const client = new RealtimeClient({ url: socket + '/v1/realtime', apiKey: key, model: 'mock' });
client.realtime.on('server.*', (e) => log.add(e));
client.on('conversation.interrupted', () => log.add({ type: 'client:interrupted' }));
client.on('conversation.item.completed', ({ item }) => log.add({ type: 'client:completed', item }));
const completed = (from, ok) => log.next(from, (e) => e.type === 'client:completed' && ok(e.item), 'item');

await check('B01', 'connects', async () => {
  await client.connect();
  assert(client.isConnected);
});
await check('B02', 'session.created: a flat beta session', async () => {
  await client.waitForSessionCreated();
  const { session } = await log.next(0, 'session.created');
  assert(session.modalities && session.input_audio_format === 'pcm16', session);
});
let answer;
await check('B03', 'the user item: completed, with its text', async () => {
  client.sendUserMessageContent([{ type: 'input_text', text: 'hello' }]);
  const { item } = await completed(0, (i) => i.role === 'user');
  assert(item.formatted.text === 'hello', item);
});
await check('B04', 'the assistant item is announced in progress', async () => {
  const e = await log.next(0, (e) => e.type === 'conversation.item.created' && e.item.role === 'assistant');
  assert(e.item.status === 'in_progress', e);
});
await check('B05', 'it completes with transcript and sound', async () => {
  answer = (await completed(0, (i) => i.role === 'assistant')).item;
  assert(/an answer/.test(answer.formatted.transcript) && answer.formatted.audio.length > 24000, answer.formatted.transcript);
});
await check('B06', 'a function call: the handler runs, its output is sent, a second response follows', async () => {
  const from = log.mark();
  let called = 0;
  client.addTool({ name: 'get_weather', description: 'The weather.', parameters: { type: 'object', properties: { city: { type: 'string' } } } }, () => {
    called++;
    return 'sunny';
  });
  await log.next(from, 'session.updated');
  client.sendUserMessageContent([{ type: 'input_text', text: 'what about the weather' }]);
  const { item } = await completed(from, (i) => i.role === 'assistant');
  assert(called === 1 && /sunny/.test(item.formatted.transcript), item.formatted);
});
const mic = new Microphone((piece) => client.appendInputAudio(piece.buffer.slice(piece.byteOffset, piece.byteOffset + piece.length)));
const voice = log.mark();
await check('B07', 'a server_vad turn', async () => {
  client.updateSession({ turn_detection: { type: 'server_vad' }, input_audio_transcription: { model: 'whisper-1' } });
  await log.next(voice, 'session.updated');
  mic.say(sound('flight'));
  for (const t of ['input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped', 'input_audio_buffer.committed', 'conversation.item.created', 'response.created']) await log.next(voice, t);
  await completed(voice, (i) => i.role === 'assistant');
});
await check('B08', 'conversation.interrupted is raised on speech_started', () => log.next(voice, 'client:interrupted'));
await check('B09', 'the user item has its transcript and its sound', async () => {
  const { item_id: id } = await log.next(voice, 'conversation.item.input_audio_transcription.completed');
  const item = client.conversation.getItem(id);
  const started = await log.next(voice, 'input_audio_buffer.speech_started');
  const stopped = await log.next(voice, 'input_audio_buffer.speech_stopped');
  assert(/flight/.test(item.formatted.transcript), item.formatted.transcript);
  const want = ((stopped.audio_end_ms - started.audio_start_ms) / 1000) * 24000;
  assert(Math.abs(item.formatted.audio.length - want) < 2400, `${item.formatted.audio.length} samples, expected ${want}`);
});
await check('B10', 'cancelResponse(id, samples): cancelled and truncated', async () => {
  // The sound may have been heard as two turns: the responses to both come first.
  const count = (type) => log.types(voice).filter((t) => t === type).length;
  const still = () => count('input_audio_buffer.speech_started') === count('response.created') && count('response.created') === count('response.done');
  await log.next(voice, still, 'end of all responses');
  const from = log.mark();
  client.sendUserMessageContent([{ type: 'input_text', text: 'tell me a story' }]);
  const { item_id: id } = await log.next(from, 'response.audio.delta');
  await pause(800);
  client.cancelResponse(id, 2400);
  const done = await log.next(from, 'response.done');
  assert(done.response.status === 'cancelled', done);
  const cut = await log.next(from, 'conversation.item.truncated');
  assert(cut.audio_end_ms === 100, cut);
});
await check('B11', 'deleteItem', async () => {
  const from = log.mark();
  client.deleteItem(answer.id);
  await log.next(from, 'conversation.item.deleted');
  await pause(50);
  assert(!client.conversation.getItem(answer.id));
});
mic.off();
await check('B12', 'no error events', () => assert(!log.events.some((e) => e.type === 'error'), log.events.filter((e) => e.type === 'error')));
await check('B13', 'nothing thrown inside the client', () => assert(thrown.length === 0, thrown.map(String)));
await check('B14', 'no events of the general form alone', () => {
  const wrong = log.types().filter((t) => /output_text|output_audio|conversation\.item\.(added|done)$|timeout/.test(t));
  assert(wrong.length === 0, wrong);
});
client.disconnect();

const azure = { deployment: 'mock' };
const low = new LowLevelRTClient(new URL(socket), { key }, azure);
await check('Z01', 'low level: session.created, then session.updated', async () => {
  const messages = low.messages()[Symbol.asyncIterator]();
  assert((await messages.next()).value.type === 'session.created');
  await low.send({ type: 'session.update', session: { turn_detection: null } });
  assert((await messages.next()).value.type === 'session.updated');
  await low.close();
});
// An error is the end of an RTClient: a new one follows each that is provoked.
let rt = new RTClient(new URL(socket), { key }, azure);
const again = async () => {
  await rt.close();
  rt = new RTClient(new URL(socket), { key }, azure);
  await rt.configure({ turn_detection: null });
};
await check('Z02', 'init resolves', () => rt.init());
await check('Z03', 'configure updates the session', async () => {
  const session = await rt.configure({ instructions: 'Hm.', turn_detection: null, input_audio_transcription: { model: 'whisper-1' } });
  assert(session.instructions === 'Hm.', session);
});
const say = async (pcm) => {
  for (let i = 0; i < pcm.length; i += 9600) await rt.sendAudio(pcm.subarray(i, i + 9600));
};
await check('Z04', 'commitAudio with transcription', async () => {
  await say(sound('flight'));
  const item = await rt.commitAudio();
  await item.waitForCompletion();
  assert(/flight/.test(item.transcription), item.transcription);
});
await check('Z05', 'commitAudio without transcription', async () => {
  await rt.configure({ input_audio_transcription: null });
  await say(sound('flight'));
  const item = await rt.commitAudio();
  await item.waitForCompletion();
});
const rejects = async (promise, word) => {
  try {
    await promise;
  } catch (e) {
    assert(e.message.includes(word), e.message);
    return;
  }
  throw new Error('it did not fail');
};
await check('Z06', 'clearAudio; a commit after it rejects with "buffer"', async () => {
  await say(sound('flight'));
  await rt.clearAudio();
  await rejects(rt.commitAudio(), 'buffer');
  await again();
});
const message = (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
let sent;
await check('Z07', 'sendItem resolves with an id', async () => {
  sent = await rt.sendItem(message('hello'));
  assert(sent.id, sent);
});
await check('Z08', 'removeItem; sendItem behind the removed one rejects with "does not exist"', async () => {
  await rt.removeItem(sent.id);
  await rejects(rt.sendItem(message('x'), sent.id), 'does not exist');
  await again();
});
const collect = async (chunks) => {
  const list = [];
  for await (const c of chunks) list.push(c);
  return list;
};
await check('Z09', 'generateResponse: responseId and previousItemId; Z12 sound and transcript', async () => {
  const before = await rt.sendItem(message('hello'));
  const response = await rt.generateResponse();
  let n = 0;
  for await (const item of response) {
    assert(item.responseId === response.id && item.previousItemId === before.id, item.previousItemId);
    for await (const part of item) {
      const [audio, words] = await Promise.all([collect(part.audioChunks()), collect(part.transcriptChunks())]);
      assert(audio.length > 10 && /an answer/.test(words.join('')), words);
      n++;
    }
  }
  assert(n === 1 && response.status === 'completed', response.status);
});
await check('Z10', 'cancel', async () => {
  await rt.sendItem(message('tell me a story'));
  const response = await rt.generateResponse();
  await response.cancel();
  for await (const item of response) void item;
  assert(['cancelled', 'completed'].includes(response.status), response.status);
});
await check('Z11', 'text out: the chunks are the text', async () => {
  await rt.configure({ modalities: ['text'] });
  await rt.sendItem(message('hello'));
  const response = await rt.generateResponse();
  for await (const item of response) for await (const part of item) {
    const words = await collect(part.textChunks());
    assert(part.type === 'text' && words.join('') === part.text && part.text, part.text);
  }
});
await check('Z13', 'a function call', async () => {
  await rt.configure({ tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }], tool_choice: 'required' });
  await rt.sendItem(message('and the weather'));
  const response = await rt.generateResponse();
  for await (const item of response) {
    await item.waitForCompletion();
    assert(item.functionName === 'get_weather' && JSON.parse(item.arguments).city === 'Paris', item.arguments);
  }
});
await check('Z14', 'events(): a server_vad turn is an input item, then a response', async () => {
  await rt.configure({ modalities: ['text', 'audio'], tools: [], tool_choice: 'auto', turn_detection: { type: 'server_vad' }, input_audio_transcription: { model: 'whisper-1' } });
  const ear = new Microphone((piece) => rt.sendAudio(piece).catch(() => {}));
  ear.say(sound('flight'));
  const kinds = [];
  for await (const e of rt.events()) {
    kinds.push(e.type);
    if (e.type === 'input_audio') await e.waitForCompletion();
    if (e.type === 'response') break;
  }
  ear.off();
  assert(kinds.join() === 'input_audio,response', kinds);
});
process.exit(0);
