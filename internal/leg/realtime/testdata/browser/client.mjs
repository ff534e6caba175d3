// Starts Chromium with a microphone that plays a file, and has it run page.mjs.
import { createServer } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { require, base, key, sound } from '../client.mjs';

const { chromium } = require('playwright-core');
const here = path.dirname(new URL(import.meta.url).pathname);

// The microphone: a flight, and a word in the middle of the answer; then silence.
const rate = 48000;
const silence = (ms) => Buffer.alloc((rate / 1000) * ms * 2);
const twice = (pcm) => {
  const out = Buffer.alloc(pcm.length * 2);
  for (let i = 0; i + 1 < pcm.length; i += 2) {
    out.writeInt16LE(pcm.readInt16LE(i), 2 * i);
    out.writeInt16LE(pcm.readInt16LE(i), 2 * i + 2);
  }
  return out;
};
const data = Buffer.concat([silence(4000), twice(sound('flight')), silence(7000), twice(sound('story')), silence(3000), twice(sound('flight')), silence(60000)]);
const head = Buffer.alloc(44);
head.write('RIFF', 0);
head.writeUInt32LE(36 + data.length, 4);
head.write('WAVEfmt ', 8);
head.writeUInt32LE(16, 16);
head.writeUInt16LE(1, 20);
head.writeUInt16LE(1, 22);
head.writeUInt32LE(rate, 24);
head.writeUInt32LE(rate * 2, 28);
head.writeUInt16LE(2, 32);
head.writeUInt16LE(16, 34);
head.write('data', 36);
head.writeUInt32LE(data.length, 40);
const wav = path.join(process.env.SOUNDS, 'microphone.wav');
writeFileSync(wav, Buffer.concat([head, data]));

const types = { '.mjs': 'text/javascript', '.js': 'text/javascript', '.ts': 'text/plain' };
const pages = createServer((req, res) => {
  const name = req.url.split('?')[0];
  if (name === '/') {
    res.setHeader('Content-Type', 'text/html');
    res.end('<!doctype html><script type="module" src="/page.mjs"></script>');
    return;
  }
  try {
    const file = name.startsWith('/node_modules/') ? path.join(process.env.CLIENT_HOME, name) : path.join(here, name);
    const body = readFileSync(file);
    res.setHeader('Content-Type', types[path.extname(file)] ?? 'text/plain');
    res.end(body);
  } catch {
    res.statusCode = 404;
    res.end();
  }
}).listen(0, '127.0.0.1');
await new Promise((r) => pages.once('listening', r));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  headless: false, // the flag below chooses the new headless mode
  args: [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required',
    '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', `--use-file-for-fake-audio-capture=${wav}%noloop`,
  ],
});
const page = await browser.newPage();
let failed = 0;
page.on('console', (m) => console.log(m.text()));
page.on('pageerror', (e) => {
  failed++;
  console.log(`page error: ${e}`);
});
await page.exposeFunction('secret', async () => {
  const r = await fetch(base + '/v1/realtime/client_secrets', {
    method: 'POST', headers: { Authorization: `Bearer ${key}` }, body: '{"session":{"type":"realtime","model":"mock"}}',
  });
  return (await r.json()).value;
});
const done = new Promise((r) => page.exposeFunction('finished', r));
await page.goto(`http://127.0.0.1:${pages.address().port}/?server=${encodeURIComponent(base)}&key=${key}`);
await Promise.race([done, new Promise((r) => setTimeout(r, 75000))]);
console.log(failed === 0 ? 'ok W15 no page errors' : `failed W15 no page errors: ${failed}`);
await browser.close();
process.exit(0);
