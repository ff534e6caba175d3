// The phases of the machine, and what seed 000 calls them. The table is that of
// the machine's view agent-voice; a test holds it against `hocket machine`.

/** Tone groups phases for colour: who has the floor, or what is wrong. */
export type Tone = "rest" | "user" | "think" | "agent" | "pause" | "fault";

const voice: Record<string, string> = {
  idle: "idle",
  preparing: "preparing",
  "listening.ready": "listening",
  "listening.capturing": "listening",
  "processing.understanding": "processing",
  "processing.waiting": "waitingForCopilot",
  "processing.generating": "processing",
  "processing.tool": "processing",
  "processing.delegated": "waitingForCopilot",
  speaking: "speaking",
  interrupted: "interrupted",
  suspended: "suspended",
  reconnecting: "suspended",
  faulted: "faulted",
  terminating: "terminating",
};

/** phases are all phases, in the machine's order. */
export const phases = Object.keys(voice);

/** agentVoice is seed 000's state of a phase. */
export function agentVoice(phase: string): string {
  return voice[phase] ?? "idle";
}

const tones: Record<string, Tone> = {
  idle: "rest",
  preparing: "think",
  listening: "user",
  processing: "think",
  waitingForCopilot: "think",
  speaking: "agent",
  interrupted: "user",
  suspended: "pause",
  faulted: "fault",
  terminating: "rest",
};

/** toneOfState is the tone of a state of seed 000. */
export function toneOfState(state: string): Tone {
  return tones[state] ?? "rest";
}

/** toneOfPhase is the tone of a phase. */
export function toneOfPhase(phase: string): Tone {
  return toneOfState(agentVoice(phase));
}
