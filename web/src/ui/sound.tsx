// What a person sets of the sound: the microphone's mute, which devices, how loud.

import { useEffect, useState } from "preact/hooks";
import type { Device, Devices } from "../audio/call.ts";
import type { Session } from "../session.ts";
import { useWords, type Key } from "../words/words.ts";
import { Microphone, Muted } from "./icons.tsx";

/** Mute closes the microphone until it is pressed again. */
export function Mute({ session }: { session: Session }) {
  const t = useWords();
  const muted = session.muted.value;
  return (
    <button type="button" class="quiet-button small mute" aria-pressed={muted} onClick={() => session.mute(!muted)}>
      {muted ? <Muted /> : <Microphone />}
      <span>{t("sound.mute")}</span>
    </button>
  );
}

/** Sound chooses the devices and the volume. */
export function Sound({ session }: { session: Session }) {
  const t = useWords();
  const [devices, setDevices] = useState<Devices>({ microphones: [], speakers: [] });
  useEffect(() => {
    let gone = false;
    const look = () => void session.devices().then((d) => gone || setDevices(d));
    look();
    navigator.mediaDevices.addEventListener("devicechange", look);
    return () => {
      gone = true;
      navigator.mediaDevices.removeEventListener("devicechange", look);
    };
  }, []);
  return (
    <details class="sound">
      <summary class="quiet-button small">{t("sound.title")}</summary>
      <div class="sound-settings">
        <Choice words="talk.mode" devices={devices.microphones} value={session.microphone.value} onChoose={(id) => void session.useMicrophone(id)} />
        <Choice words="sound.speaker" devices={devices.speakers} value={session.speaker.value} onChoose={(id) => void session.useSpeaker(id)} />
        <label>
          <span>{t("sound.volume")}</span>
          <input
            type="range"
            min={0}
            max={100}
            step={5}
            value={Math.round(session.volume.value * 100)}
            aria-valuetext={t.percent(session.volume.value)}
            onInput={(e) => session.setVolume(Number(e.currentTarget.value) / 100)}
          />
        </label>
      </div>
    </details>
  );
}

/** Choice is of one kind of device; with fewer than two there is none. */
function Choice({ words, devices, value, onChoose }: { words: Key; devices: readonly Device[]; value: string; onChoose: (id: string) => void }) {
  const t = useWords();
  if (devices.length < 2) return null;
  return (
    <label>
      <span>{t(words)}</span>
      <select value={devices.some((d) => d.id === value) ? value : devices[0]!.id} onChange={(e) => onChoose(e.currentTarget.value)}>
        {devices.map((d) => (
          <option key={d.id} value={d.id}>
            {d.name}
          </option>
        ))}
      </select>
    </label>
  );
}
