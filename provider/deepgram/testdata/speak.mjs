// Deepgram's client in Node, unmodified, against the fake of Aura: two texts over one connection,
// the first of which is cleared. Prints how much was heard.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENT_HOME + '/');
const { DeepgramClient } = require('@deepgram/sdk');

const seen = { bytes: 0, cancelled: 0, model: null, error: null };
const url = process.env.URL;
const client = new DeepgramClient({ apiKey: process.env.KEY, environment: { base: url, production: url, agent: url, agentRest: url } });
try {
  const socket = await client.speak.v1.connect({ model: 'aura-2-thalia-en', encoding: 'linear16', sample_rate: 24000, reconnectAttempts: 0 });
  let cleared = false;
  const ended = new Promise((resolve) => {
    socket.on('error', (e) => { seen.error ??= e.message; resolve(); });
    socket.on('close', resolve);
    socket.on('message', (m) => {
      if (m instanceof Blob || Buffer.isBuffer(m) || m instanceof ArrayBuffer) {
        if (!cleared && !seen.cancelled) socket.sendClear({ type: 'Clear' });
        seen[cleared ? 'bytes' : 'cancelled'] += m.size ?? m.byteLength;
      } else if (m.type === 'Metadata') {
        seen.model = m.model_name;
      } else if (m.type === 'Cleared') {
        cleared = true;
        socket.sendText({ type: 'Speak', text: 'from new york ' });
        socket.sendText({ type: 'Speak', text: 'to boston' });
        socket.sendFlush({ type: 'Flush' });
      } else if (m.type === 'Flushed' && cleared) {
        socket.sendClose({ type: 'Close' });
      }
    });
  });
  socket.connect();
  await Promise.race([socket.waitForOpen(), ended]);
  if (!seen.error) {
    socket.sendText({ type: 'Speak', text: 'this is not wanted '.repeat(20) });
    socket.sendFlush({ type: 'Flush' });
    await ended;
  }
} catch (e) {
  seen.error ??= e.message;
}
console.log(JSON.stringify(seen));
process.exit(0);
