// Soniox's client in Node, unmodified, against the fake. Prints how much was heard.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENT_HOME + '/');
globalThis.WebSocket ??= require('ws');
const { SonioxNodeClient } = require('@soniox/node');

const seen = { bytes: 0, text: '', cancelled: 0, error: null };
const client = new SonioxNodeClient({ api_key: process.env.KEY, realtime: { tts_ws_url: process.env.URL } });
try {
  const stream = await client.realtime.tts({
    model: 'tts-rt-v2', voice: 'Adrian', language: 'en', audio_format: 'pcm_s16le', sample_rate: 24000, return_timestamps: true,
  });
  const ended = new Promise((resolve) => {
    stream.on('terminated', resolve);
    stream.on('error', (e) => { seen.error ??= `${e.code ?? e.name}: ${e.message}`; resolve(); });
  });
  stream.on('audio', (chunk, timestamps) => {
    seen.bytes += chunk.length;
    seen.text += (timestamps?.characters ?? []).join('');
  });
  stream.sendText('from new york ');
  stream.sendText('to boston', { end: true });
  await ended;
} catch (e) {
  seen.error ??= `${e.code ?? e.name}: ${e.message}`;
}
console.log(JSON.stringify(seen));
process.exit(0);
