// How loud a stream is, now.

/** The quietest level that a meter shows, in decibels below full scale. */
const floor = -54;

/** Meter measures one stream. read is cheap enough for every frame of the screen. */
export class Meter {
  private readonly context: AudioContext;
  private readonly analyser: AnalyserNode;
  private readonly samples: Float32Array<ArrayBuffer>;
  private source: MediaStreamAudioSourceNode | undefined;

  constructor(context: AudioContext) {
    this.context = context;
    this.analyser = context.createAnalyser();
    this.analyser.fftSize = 1024;
    this.samples = new Float32Array(this.analyser.fftSize);
  }

  connect(stream: MediaStream): void {
    this.source?.disconnect();
    this.source = this.context.createMediaStreamSource(stream);
    this.source.connect(this.analyser);
  }

  /** read is the level from 0, silence, to 1, full scale, on a scale like that of the ear. */
  read(): number {
    this.analyser.getFloatTimeDomainData(this.samples);
    let sum = 0;
    for (const s of this.samples) sum += s * s;
    const rms = Math.sqrt(sum / this.samples.length);
    if (rms === 0) return 0;
    const level = Math.min(1, Math.max(0, 1 - (20 * Math.log10(rms)) / floor));
    // Syllables stand out more than on a bare scale of decibels.
    return level ** 1.7;
  }
}
