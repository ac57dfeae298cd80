import { asFloats, RATE } from '../sound/pcm.ts';

/** Schedules playback slightly ahead, so that the first samples are not cut. */
const LEAD_S = 0.04;

interface Playing {
  readonly item: string;
  /** Start of its first audio on the clock of the context. */
  readonly began: number;
  /** Seconds of silence between its audio, where the audio arrived too late. */
  gaps: number;
}

/** How much of an item was played when playback was stopped. */
export interface Cut {
  readonly item: string;
  readonly playedMs: number;
  /** Whether all audio that had arrived was played. */
  readonly isPlayed: boolean;
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
    if (first) this.#playing = { item, began: at, gaps: 0 };
    else if (this.#playing !== null) this.#playing.gaps += at - this.#until;
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

  /** Stops immediately. Returns how much of the last item was played, or null when none was. */
  cut(): Cut | null {
    const playing = this.#playing;
    const { currentTime } = this.#context;
    const end = Math.min(currentTime, this.#until);
    const isPlayed = currentTime >= this.#until;
    for (const source of this.#sources) source.stop();
    this.#sources.clear();
    this.#until = 0;
    this.#playing = null;
    if (playing === null) return null;
    const playedMs = Math.max(0, Math.round((end - playing.began - playing.gaps) * 1000));
    return { item: playing.item, playedMs, isPlayed };
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
