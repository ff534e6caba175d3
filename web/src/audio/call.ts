// The audio of a conversation held from this page: microphone, WebRTC, playback.
// The only module that knows the microphone; a page that must not have one
// (an editor's webview) does without it.

import type { Answer } from "../source/server.ts";
import { Meter } from "./meter.ts";

/** MicrophoneError says why the microphone cannot be used. */
export class MicrophoneError extends Error {
  readonly code: "mic_denied" | "mic_missing" | "mic_busy" | "mic_insecure" | "mic_failed";
  constructor(code: MicrophoneError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Link is the state of the audio's way to the server. */
export type Link = "connecting" | "open" | "shaky" | "lost";

/** Exchange hands an offer to the server, and its answer back. */
export type Exchange = (sdp: string) => Promise<Answer>;

/** Device is a microphone or a speaker. */
export interface Device {
  id: string;
  name: string;
}

/** Devices are those that the browser tells of: once a microphone is allowed, with their names. */
export interface Devices {
  microphones: readonly Device[];
  /** Empty where the browser plays on one of its own choice alone. */
  speakers: readonly Device[];
}

/** Chosen is what a person has chosen of the sound. A device that is not there is replaced by the browser's own choice. */
export interface Chosen {
  microphone: string;
  speaker: string;
  /** From 0 to 1. */
  volume: number;
}

/** Browsers play sound only on a page that somebody has touched. */
const gestures = ["pointerdown", "keydown"];

/** A link that is shaky for so long is renegotiated, in milliseconds. */
const patience = 2000;

/** AudioCall is one call. open, then renegotiate as often as needed, then close. */
export class AudioCall {
  readonly microphone: Meter;
  readonly agent: Meter;
  private pc: RTCPeerConnection;
  private readonly player = new Audio();
  private readonly context = new AudioContext();
  private stream: MediaStream;
  private hears = true;
  private readonly onLink: (l: Link) => void;
  private exchange: Exchange | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** The connection that an offer is out for. */
  private negotiating: RTCPeerConnection | undefined;
  private closed = false;
  private readonly online = () => void this.renegotiate();
  private readonly gesture = () => this.unblock();

  private constructor(stream: MediaStream, onLink: (l: Link) => void) {
    this.stream = stream;
    this.onLink = onLink;
    this.microphone = new Meter(this.context);
    this.agent = new Meter(this.context);
    this.microphone.connect(stream);
    this.player.autoplay = true;
    this.pc = this.connection();
    globalThis.addEventListener("online", this.online);
    for (const type of gestures) globalThis.addEventListener(type, this.gesture);
  }

  /** connection is a new connection for the same microphone. */
  private connection(): RTCPeerConnection {
    const pc = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    for (const track of this.stream.getAudioTracks()) pc.addTrack(track, this.stream);
    pc.ontrack = (e) => {
      const remote = e.streams[0] ?? new MediaStream([e.track]);
      this.player.srcObject = remote;
      // Refused behind a reload, until there is a gesture.
      this.player.play().catch(() => undefined);
      this.agent.connect(remote);
    };
    pc.onconnectionstatechange = () => this.watch();
    return pc;
  }

  /** open asks for the microphone and connects. It throws a MicrophoneError, or what the exchange throws. */
  static async open(exchange: Exchange, onLink: (l: Link) => void, chosen: Chosen): Promise<AudioCall> {
    const call = new AudioCall(await capture(chosen.microphone), onLink);
    try {
      call.setVolume(chosen.volume);
      if (chosen.speaker !== "") await call.useSpeaker(chosen.speaker);
      await call.negotiate(exchange, false);
    } catch (err) {
      call.close();
      throw err;
    }
    return call;
  }

  /** later is the exchange for every negotiation but the first. */
  later(exchange: Exchange): void {
    this.exchange = exchange;
  }

  /** listen opens or closes the microphone; the track goes on, silent. */
  listen(open: boolean): void {
    this.hears = open;
    for (const track of this.stream.getAudioTracks()) track.enabled = open;
  }

  /** devices are those to choose from. */
  async devices(): Promise<Devices> {
    const all = await navigator.mediaDevices.enumerateDevices();
    const of = (kind: MediaDeviceKind) => all.filter((d) => d.kind === kind && d.deviceId !== "").map((d) => ({ id: d.deviceId, name: d.label || d.deviceId }));
    return { microphones: of("audioinput"), speakers: "setSinkId" in this.player ? of("audiooutput") : [] };
  }

  /** useMicrophone goes on with another microphone. It throws a MicrophoneError, and the one before stays. */
  async useMicrophone(id: string): Promise<void> {
    const stream = await capture(id);
    if (this.closed) return stop(stream);
    const before = this.stream;
    this.stream = stream;
    this.listen(this.hears);
    const track = stream.getAudioTracks()[0] ?? null;
    for (const sender of this.pc.getSenders()) await sender.replaceTrack(track);
    this.microphone.connect(stream);
    stop(before);
  }

  /** useSpeaker plays on another device; false if the browser does not. */
  async useSpeaker(id: string): Promise<boolean> {
    try {
      await this.player.setSinkId(id);
      return true;
    } catch {
      return false;
    }
  }

  /** setVolume sets how loud the agent is, from 0 to 1. */
  setVolume(v: number): void {
    this.player.volume = v;
  }

  /** unblock starts what the browser held back for want of a gesture. */
  private unblock(): void {
    if (this.context.state === "suspended") void this.context.resume();
    if (this.player.paused && this.player.srcObject) this.player.play().catch(() => undefined);
  }

  /** network is the time that the audio spends between here and the server, one way, in milliseconds. */
  async network(): Promise<number | undefined> {
    let trip: number | undefined;
    for (const s of (await this.pc.getStats()).values() as Iterable<Record<string, unknown>>) {
      if (s.type === "candidate-pair" && s.nominated === true && typeof s.currentRoundTripTime === "number") {
        trip = s.currentRoundTripTime;
      }
    }
    return trip === undefined ? undefined : (trip * 1000) / 2;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.timer);
    globalThis.removeEventListener("online", this.online);
    for (const type of gestures) globalThis.removeEventListener(type, this.gesture);
    this.drop();
    stop(this.stream);
    this.player.srcObject = null;
    void this.context.close();
  }

  private async negotiate(exchange: Exchange, iceRestart: boolean): Promise<void> {
    const pc = this.pc;
    this.negotiating = pc;
    try {
      // The server learns this side's addresses from its packets, not from the offer, and its
      // answer names the servers that are needed to gather them.
      const offer = await pc.createOffer({ iceRestart });
      const { sdp, iceServers } = await exchange(offer.sdp ?? "");
      if (!this.current(pc)) return;
      if (iceServers) pc.setConfiguration({ ...pc.getConfiguration(), iceServers });
      await pc.setLocalDescription(offer);
      if (this.current(pc)) await pc.setRemoteDescription({ type: "answer", sdp });
    } finally {
      if (this.negotiating === pc) this.negotiating = undefined;
    }
  }

  /** current reports whether a connection is in use: it may be closed, or renewed, while it is negotiated. */
  private current(pc: RTCPeerConnection): boolean {
    return !this.closed && this.pc === pc;
  }

  /** renegotiate restarts ICE: the way to the server has changed. */
  async renegotiate(): Promise<void> {
    const pc = this.pc;
    if (this.closed || this.negotiating === pc || !this.exchange) return;
    try {
      await this.negotiate(this.exchange, true);
    } catch {
      if (!this.current(pc)) return;
      this.onLink("lost");
      this.again();
    }
  }

  /** renew connects anew, to another process: the one before knew other secrets. It throws what the exchange throws. */
  async renew(exchange: Exchange): Promise<void> {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.drop();
    this.pc = this.connection();
    await this.negotiate(exchange, false);
  }

  private drop(): void {
    this.pc.onconnectionstatechange = null;
    this.pc.ontrack = null;
    this.pc.close();
  }

  private again(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.renegotiate(), patience);
  }

  private watch(): void {
    switch (this.pc.connectionState) {
      case "connected":
        clearTimeout(this.timer);
        this.onLink("open");
        break;
      case "disconnected":
        this.onLink("shaky");
        this.again();
        break;
      case "failed":
        this.onLink("lost");
        void this.renegotiate();
        break;
    }
  }
}

function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

async function capture(device: string): Promise<MediaStream> {
  if (!navigator.mediaDevices?.getUserMedia) {
    throw new MicrophoneError("mic_insecure", "this page has no access to microphones");
  }
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1, ...(device !== "" && { deviceId: device }) },
    });
  } catch (err) {
    const name = err instanceof DOMException ? err.name : "";
    const message = err instanceof Error ? err.message : String(err);
    if (name === "NotAllowedError" || name === "SecurityError") throw new MicrophoneError("mic_denied", message);
    if (name === "NotFoundError" || name === "OverconstrainedError") throw new MicrophoneError("mic_missing", message);
    if (name === "NotReadableError" || name === "AbortError") throw new MicrophoneError("mic_busy", message);
    throw new MicrophoneError("mic_failed", message);
  }
}
