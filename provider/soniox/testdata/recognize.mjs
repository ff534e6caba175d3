// Soniox's client in Node, unmodified, against the fake: prints what it understands.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENT_HOME + '/');
globalThis.WebSocket ??= require('ws');
const { SonioxNodeClient } = require('@soniox/node');

const tone = (ms) => {
  const pcm = Buffer.alloc(32 * ms);
  for (let i = 0; i < 16 * ms; i++) pcm.writeInt16LE(Math.trunc(8000 * Math.sin(i / 6)) | 1, 2 * i);
  return pcm;
};
const seen = { final: '', partials: 0, end: 0, fin: 0, finished: false, error: null };
const client = new SonioxNodeClient({ api_key: process.env.KEY, realtime: { ws_base_url: process.env.URL } });
const session = client.realtime.stt({
  model: 'stt-rt-v5', audio_format: 'pcm_s16le', sample_rate: 16000, num_channels: 1,
  language_hints: ['en'], enable_endpoint_detection: true, enable_language_identification: true,
});
session.on('error', (e) => { seen.error ??= `${e.code ?? e.name}: ${e.message}`; });
session.on('token', (t) => { t.is_final ? (seen.final += t.text) : seen.partials++; });
session.on('endpoint', () => { seen.end++; });
session.on('finalized', () => { seen.fin++; });
session.on('finished', () => { seen.finished = true; });
try {
  await session.connect();
  for (let i = 0; i < 15; i++) session.sendAudio(tone(100));
  session.finalize();
  for (let i = 0; i < 15; i++) session.sendAudio(tone(100));
  for (let i = 0; i < 20; i++) session.sendAudio(Buffer.alloc(3200));
  await session.finish();
} catch (e) {
  seen.error ??= `${e.code ?? e.name}: ${e.message}`;
}
console.log(JSON.stringify(seen));
process.exit(0);
