// Telnyx's own client, unmodified, against the fake: answers a call, streams it and hangs up, and
// prints how the commands ended.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENT_HOME + '/');
const { Telnyx } = require('telnyx');

const call = process.env.CALL;
const client = new Telnyx({ apiKey: process.env.KEY, baseURL: process.env.URL, maxRetries: 1 });
const results = [];
async function command(name, f) {
  try {
    results.push({ name, result: (await f()).data?.result ?? '' });
  } catch (e) {
    results.push({ name, status: e.status, code: e.error?.errors?.[0]?.code ?? '' });
  }
}
const { actions } = client.calls;
await command('another key', () => new Telnyx({ apiKey: 'wrong', baseURL: process.env.URL }).calls.actions.answer(call, { command_id: 'a' }));
await command('another call', () => actions.answer('v3:other', { command_id: 'a' }));
await command('answer', () => actions.answer(call, { command_id: 'b', send_silence_when_idle: true }));
await command('answer again', () => actions.answer(call, { command_id: 'b', send_silence_when_idle: true }));
await command('stream', () => actions.startStreaming(call, {
  command_id: 'c', stream_url: 'wss://voice.test/media', stream_track: 'inbound_track', stream_codec: 'PCMU',
  stream_bidirectional_mode: 'rtp', stream_bidirectional_codec: 'PCMU', stream_bidirectional_sampling_rate: 8000, stream_bidirectional_target_legs: 'self',
}));
await command('hang up', () => actions.hangup(call, { command_id: 'd' }));
await command('hang up again', () => actions.hangup(call, { command_id: 'e' }));
console.log(JSON.stringify(results));
process.exit(0);
