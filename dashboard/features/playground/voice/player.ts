import { asFloats, RATE } from '../sound/pcm.ts';

/** A little ahead of the clock, so that the first sound is not cut. */
const LEAD_S = 0.04;

interface Playing {
  readonly item: string;
  /** When its first sound began, on the clock of the context. */
  readonly began: number;
}

/** Plays the sound of answers as it comes, one piece after the other. Made in a click, or browsers keep it silent. */
export class Player {
  readonly #context = new AudioContext({ sampleRate: RATE });
  readonly #sources = new Set<AudioBufferSourceNode>();
  #until = 0;
  #playing: Playing | null = null;

  /** Adds sound of an item; answers true when it is the first that this item plays. */
  add(item: string, samples: Int16Array<ArrayBuffer>): boolean {
    if (samples.length === 0) return false;
    const context = this.#context;
    const first = this.#playing?.item !== item;
    const at = Math.max(this.#until, context.currentTime + LEAD_S);
    if (first) this.#playing = { item, began: at };
    const buffer = context.createBuffer(1, samples.length, RATE);
    buffer.copyToChannel(asFloats(samples), 0);
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.onended = () => this.#sources.delete(source);
    this.#sources.add(source);
    source.start(at);
    this.#until = at + buffer.duration;
    return first;
  }

  /** Stops at once; answers what was playing and how much of it was heard, in milliseconds. Null when it was silent. */
  cut(): { item: string; heardMs: number } | null {
    const playing = this.#playing;
    const { currentTime } = this.#context;
    const silent = this.#sources.size === 0 || currentTime >= this.#until;
    for (const source of this.#sources) source.stop();
    this.#sources.clear();
    this.#until = 0;
    this.#playing = null;
    if (playing === null || silent) return null;
    return { item: playing.item, heardMs: Math.max(0, Math.round((currentTime - playing.began) * 1000)) };
  }

  /** Lets a browser that held the sound back begin. */
  async wake(): Promise<void> {
    if (this.#context.state === 'suspended') await this.#context.resume();
  }

  close(): void {
    this.cut();
    void this.#context.close().catch(() => undefined);
  }
}

/** A recording as samples at the rate of live voice. Throws for what the browser cannot decode. */
export async function samplesOfFile(file: Blob): Promise<Int16Array<ArrayBuffer>> {
  const context = new OfflineAudioContext(1, 1, RATE);
  const sound = await context.decodeAudioData(await file.arrayBuffer());
  const mix = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; channel++)
    for (const [at, value] of sound.getChannelData(channel).entries())
      mix[at] = (mix[at] ?? 0) + value / sound.numberOfChannels;
  return Int16Array.from(mix, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767));
}
