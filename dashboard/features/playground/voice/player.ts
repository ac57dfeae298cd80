import { asFloats, RATE } from '../sound/pcm.ts';

/** Schedules playback slightly ahead, so that the first samples are not cut. */
const LEAD_S = 0.04;

interface Playing {
  readonly item: string;
  /** Start of its first audio on the clock of the context. */
  readonly began: number;
}

/** Plays streamed audio gaplessly. Create it in a click handler, because browsers otherwise block audio. */
export class Player {
  readonly #context = new AudioContext({ sampleRate: RATE });
  readonly #sources = new Set<AudioBufferSourceNode>();
  #until = 0;
  #playing: Playing | null = null;

  /** Queues audio of an item. Returns true for its first audio. */
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

  /** Stops immediately. Returns the playing item and the milliseconds that were played, or null when silent. */
  cut(): { item: string; playedMs: number } | null {
    const playing = this.#playing;
    const { currentTime } = this.#context;
    const silent = this.#sources.size === 0 || currentTime >= this.#until;
    for (const source of this.#sources) source.stop();
    this.#sources.clear();
    this.#until = 0;
    this.#playing = null;
    if (playing === null || silent) return null;
    return { item: playing.item, playedMs: Math.max(0, Math.round((currentTime - playing.began) * 1000)) };
  }

  /** Resumes a context that the browser has suspended. */
  async wake(): Promise<void> {
    if (this.#context.state === 'suspended') await this.#context.resume();
  }

  close(): void {
    this.cut();
    void this.#context.close().catch(() => undefined);
  }
}

/** Decodes a recording to samples at the rate of live voice. Throws when the browser cannot decode it. */
export async function samplesOfFile(file: Blob): Promise<Int16Array<ArrayBuffer>> {
  const context = new OfflineAudioContext(1, 1, RATE);
  const sound = await context.decodeAudioData(await file.arrayBuffer());
  const mix = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; channel++)
    for (const [at, value] of sound.getChannelData(channel).entries())
      mix[at] = (mix[at] ?? 0) + value / sound.numberOfChannels;
  return Int16Array.from(mix, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767));
}
