// Deepgram's client in Node, unmodified, against the fake of Nova: prints what it understands.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENT_HOME + '/');
const { DeepgramClient } = require('@deepgram/sdk');

const tone = (ms) => {
  const pcm = Buffer.alloc(32 * ms);
  for (let i = 0; i < 16 * ms; i++) pcm.writeInt16LE(Math.trunc(8000 * Math.sin(i / 6)) | 1, 2 * i);
  return pcm;
};
const seen = { final: '', partials: 0, end: 0, fin: 0, started: 0, finished: false, error: null };
const url = process.env.URL;
const client = new DeepgramClient({ apiKey: process.env.KEY, environment: { base: url, production: url, agent: url, agentRest: url } });
try {
  const socket = await client.listen.v1.connect({
    model: 'nova-3', language: 'en', encoding: 'linear16', sample_rate: 16000, interim_results: 'true', punctuate: 'true',
    vad_events: 'true', endpointing: 300, keyterm: ['Boston', 'New York'], reconnectAttempts: 0,
  });
  const ended = new Promise((resolve) => {
    socket.on('error', (e) => { seen.error ??= e.message; resolve(); });
    socket.on('close', resolve);
    socket.on('message', (m) => {
      if (m.type === 'Results') {
        const words = m.channel.alternatives[0].words;
        if (m.is_final) seen.final += words.map((w) => ' ' + w.punctuated_word).join('');
        else seen.partials++;
        seen.end += m.speech_final ? 1 : 0;
        seen.fin += m.from_finalize ? 1 : 0;
      } else if (m.type === 'SpeechStarted') {
        seen.started++;
      } else if (m.type === 'Metadata') {
        seen.finished = true;
      } else if (m.type === 'Error') {
        seen.error = m.description;
      }
    });
  });
  socket.connect();
  await Promise.race([socket.waitForOpen(), ended]);
  if (!seen.error) {
    socket.sendKeepAlive({ type: 'KeepAlive' });
    for (let i = 0; i < 15; i++) socket.sendMedia(tone(100));
    socket.sendFinalize({ type: 'Finalize' });
    for (let i = 0; i < 15; i++) socket.sendMedia(tone(100));
    for (let i = 0; i < 10; i++) socket.sendMedia(Buffer.alloc(3200));
    socket.sendCloseStream({ type: 'CloseStream' });
    await ended;
  }
} catch (e) {
  seen.error ??= e.message;
}
console.log(JSON.stringify(seen));
process.exit(0);
