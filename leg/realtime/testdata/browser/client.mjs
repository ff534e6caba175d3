// Starts Chromium and has it run page.mjs.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { require, base, key, sound } from '../client.mjs';

const { chromium } = require('playwright-core');
const here = path.dirname(new URL(import.meta.url).pathname);

const types = { '.mjs': 'text/javascript', '.js': 'text/javascript', '.ts': 'text/plain' };
const pages = createServer((req, res) => {
  const name = req.url.split('?')[0];
  if (name === '/') {
    res.setHeader('Content-Type', 'text/html');
    res.end('<!doctype html><script type="module" src="/page.mjs"></script>');
    return;
  }
  if (name.startsWith('/sounds/')) {
    res.end(sound(path.basename(name, '.pcm')));
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
    '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream',
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
