// Deepgram's client in Node, unmodified, against the fake of Flux: prints what it understands.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENT_HOME + '/');
const { DeepgramClient } = require('@deepgram/sdk');

const tone = (ms) => {
  const pcm = Buffer.alloc(32 * ms);
  for (let i = 0; i < 16 * ms; i++) pcm.writeInt16LE(Math.trunc(8000 * Math.sin(i / 6)) | 1, 2 * i);
  return pcm;
};
const seen = { final: '', partials: 0, events: [], triggers: [], configured: null, error: null };
const url = process.env.URL;
const client = new DeepgramClient({ apiKey: process.env.KEY, environment: { base: url, production: url, agent: url, agentRest: url } });
try {
  const socket = await client.listen.v2.connect({
    model: 'flux-general-en', encoding: 'linear16', sample_rate: 16000, eager_eot_threshold: 0.5, keyterm: 'Boston', reconnectAttempts: 0,
  });
  const ended = new Promise((resolve) => {
    socket.on('error', (e) => { seen.error ??= e.message; resolve(); });
    socket.on('close', resolve);
    socket.on('message', (m) => {
      if (m.type === 'TurnInfo') {
        if (m.event === 'Update') seen.partials++;
        else seen.events.push(m.event);
        if (m.event === 'EndOfTurn') {
          seen.final += ' ' + m.transcript;
          seen.triggers.push(m.trigger);
          if (seen.triggers.length === 2) socket.sendCloseStream({ type: 'CloseStream' });
        }
      } else if (m.type === 'ConfigureSuccess') {
        seen.configured = m.keyterms;
      } else if (m.type === 'Error') {
        seen.error = m.code;
      }
    });
  });
  socket.connect();
  await Promise.race([socket.waitForOpen(), ended]);
  if (!seen.error) {
    socket.sendConfigure({ type: 'Configure', keyterms: ['New York'] });
    for (let i = 0; i < 15; i++) socket.sendMedia(tone(100));
    socket.sendForceEndTurn({ type: 'ForceEndTurn' });
    for (let i = 0; i < 15; i++) socket.sendMedia(tone(100));
    for (let i = 0; i < 10; i++) socket.sendMedia(Buffer.alloc(3200));
    await ended;
  }
} catch (e) {
  seen.error ??= e.message;
}
console.log(JSON.stringify(seen));
process.exit(0);
