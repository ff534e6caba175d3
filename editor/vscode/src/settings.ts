// The settings agentvoice.conversation.*, as the engine takes them.

import * as vscode from "vscode";
import type { Settings } from "./protocol.ts";

const section = "agentvoice.conversation";

/** get is a setting's value, or what stands for it if it is not set. */
export function get<V>(name: string, otherwise: V): V {
  return vscode.workspace.getConfiguration(section).get<V>(name, otherwise);
}

/** settingsOf returns what the engine is told. What equals the engine's default is left out. */
export function settingsOf(): Settings {
  const language = get<string>("language", "auto");
  const endOfTurn = get<string>("endOfTurn", "auto");
  const s: Settings = {
    model: get("model", "copilot"),
    timeoutMs: get("copilotTimeoutMs", 8000),
    retries: get("maxRetries", 3),
    recoveries: get("maxFaultRetries", 3),
    bargeIn: get("bargeIn", "hybrid"),
    privacy: get("privacy", "session"),
    endOfTurn,
  };
  if (endOfTurn === "silence") s.silenceMs = get("silenceMs", 800);
  if (language !== "auto") s.language = language;
  for (const name of ["config", "instructions", "greeting", "voice"] as const) {
    const value = get(name, "").trim();
    if (value !== "") s[name] = value;
  }
  return s;
}

/** affects reports whether a change needs another engine. */
export function affects(e: vscode.ConfigurationChangeEvent): boolean {
  if (e.affectsConfiguration("agentvoice.enginePath")) return true;
  const own = ["microphone", "context", "modelFamily"];
  return e.affectsConfiguration(section) && !own.some((name) => e.affectsConfiguration(`${section}.${name}`));
}
