// What a store keeps, for the tests and pictures of the Past view.

import { readFileSync } from "node:fs";
import { web } from "./browser.ts";
import type { FakeStored } from "./fake.ts";
import { wav } from "./hocket.ts";

const said = [
  { turn: 1, role: "agent", text: "Welcome to Hocket Airlines. What would you like to do?" },
  { turn: 2, role: "user", text: "Find me a quiet hotel in Lisbon" },
  { turn: 3, role: "tool", name: "find_hotel", text: "Casa do Jardim, 90 euros." },
  { turn: 3, role: "agent", text: "Let me look into that.", interrupted: true },
  { turn: 3, role: "agent", text: "I have found a hotel: Casa do Jardim, for 90 euros." },
];

/** tone is a WAV of 8 kHz with a tone, for so many seconds. */
function tone(seconds: number): Buffer {
  const data = Buffer.alloc(seconds * 16_000);
  for (let i = 0; i < data.length / 2; i++) data.writeInt16LE(Math.round(3000 * Math.sin(i / 4)), 2 * i);
  return wav(data, 8000);
}

/** shelf is a store: ended, restored, locked, running and old conversations. */
export function shelf(): FakeStored[] {
  const jsonl = (names: string[]) => names.map((n) => readFileSync(`${web}test/fixtures/${n}`, "utf8")).join("");
  const one = (n: number, more: Partial<FakeStored>): FakeStored => ({
    id: `conv_kept_${n}`, agent: "flights", transport: n % 2 ? "text" : "webrtc", ended: true, turns: 11, trace: true, live: false,
    started: `2026-11-${20 - n}T12:00:00Z`, saved: `2026-11-${20 - n}T12:04:30Z`, lines: said, ...more,
  });
  return [
    // The recording begins half a second after the trace.
    one(1, { jsonl: jsonl(["flights.jsonl"]), recording: true, wav: { bytes: tone(30), started: "2026-03-02T12:00:00.500Z" } }),
    one(2, { ended: false, turns: 4, jsonl: jsonl(["restored.1.jsonl", "restored.2.jsonl"]) }),
    one(3, { error: "the conversation is encrypted: name the variable with its key in the config, as store.keys", agent: undefined, trace: false, lines: [], turns: 0 }),
    one(4, { live: true, ended: false, turns: 2 }),
    one(5, { trace: false, lines: [], turns: 1 }),
  ];
}
