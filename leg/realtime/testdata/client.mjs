// What the clients' tests share: packages from where they are installed, the
// results that the Go test reads, a microphone, and waiting.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const require = createRequire(path.join(process.env.CLIENT_HOME, 'index.js'));
export const base = process.env.SERVER; // http://host:port
export const secure = process.env.SECURE_SERVER; // https://host:port
export const key = process.env.KEY;

const rate = 24000;
export const sound = (name) => readFileSync(path.join(process.env.SOUNDS, name + '.pcm'));

// check runs one check and tells how it came out.
export async function check(id, what, f) {
  try {
    await f();
    console.log(`ok ${id} ${what}`);
  } catch (e) {
    console.log(`failed ${id} ${what}: ${String(e?.stack ?? e).replaceAll('\n', ' | ')}`);
  }
}

export function assert(ok, what) {
  if (!ok) throw new Error(typeof what === 'string' ? what : JSON.stringify(what));
}

// Log keeps events and waits for them, in order.
export class Log {
  events = [];
  waits = new Set();
  add(e) {
    this.events.push(e);
    for (const w of [...this.waits]) w();
  }
  mark() {
    return this.events.length;
  }
  // next is the first event behind from for which ok holds.
  next(from, ok, what = ok, limit = 20000) {
    const test = typeof ok === 'string' ? (e) => e.type === ok : ok;
    return new Promise((resolve, reject) => {
      const look = () => {
        const i = this.events.findIndex((e, i) => i >= from && test(e));
        if (i < 0) return false;
        this.waits.delete(look);
        clearTimeout(timer);
        resolve(this.events[i]);
        return true;
      };
      const timer = setTimeout(() => {
        this.waits.delete(look);
        const seen = [...new Set(this.events.slice(from).map((e) => e.type))];
        reject(new Error(`no ${what}; came: ${seen.join(', ')}`));
      }, limit);
      this.waits.add(look);
      look();
    });
  }
  types(from = 0) {
    return this.events.slice(from).map((e) => e.type);
  }
}

// Microphone sends silence all the time, and what is said in between, every 40 ms.
export class Microphone {
  left = Buffer.alloc(0);
  constructor(send) {
    const size = (rate / 25) * 2;
    this.timer = setInterval(() => {
      const piece = Buffer.alloc(size);
      this.left.copy(piece);
      this.left = this.left.subarray(Math.min(size, this.left.length));
      send(piece);
    }, 40);
  }
  say(pcm) {
    this.left = Buffer.concat([this.left, pcm]);
  }
  off() {
    clearInterval(this.timer);
  }
}

export const pause = (ms) => new Promise((r) => setTimeout(r, ms));
