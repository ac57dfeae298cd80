import { openMicrophone } from '../sound/microphone.ts';
import { wavFile } from '../sound/pcm.ts';

/** Half an hour: 86 MB of samples. */
const MAX_BLOCKS = 30 * 60 * 25;

export interface RecordingState {
  /** `opening`: waiting for permission or for the microphone. */
  readonly phase: 'idle' | 'opening' | 'running';
  /** Start time in Unix milliseconds. */
  readonly since: number;
  readonly fault: string | null;
}

const IDLE: RecordingState = { phase: 'idle', since: 0, fault: null };

/** A microphone recording. Only one runs at a time, and the microphone is released when it ends. */
export class Recording {
  readonly #listeners = new Set<() => void>();
  #now = IDLE;
  #microphone = new AbortController();
  #pieces: Int16Array<ArrayBuffer>[] = [];

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly get = (): RecordingState => this.#now;

  #set(now: RecordingState): void {
    this.#now = now;
    for (const listener of this.#listeners) listener();
  }

  /** Starts recording unless one is running. Call it from a click. Never rejects. */
  async start(): Promise<void> {
    if (this.#now.phase !== 'idle') return;
    const pieces: Int16Array<ArrayBuffer>[] = [];
    this.#pieces = pieces;
    this.#microphone = new AbortController();
    const { signal } = this.#microphone;
    this.#set({ ...IDLE, phase: 'opening' });
    try {
      await openMicrophone((samples) => {
        if (pieces.length < MAX_BLOCKS) pieces.push(samples);
      }, signal);
      signal.throwIfAborted();
      this.#set({ ...IDLE, phase: 'running', since: Date.now() });
    } catch (error) {
      if (signal.aborted) return;
      this.#set({ ...IDLE, fault: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Stops the recording and returns it as a WAV file, which the gateway decodes without ffmpeg. */
  stop(): File | null {
    if (this.#now.phase !== 'running') return null;
    const pieces = this.#pieces;
    this.drop();
    if (pieces.length > 0) return new File([wavFile(pieces)], 'recording.wav', { type: 'audio/wav' });
    this.#set({ ...IDLE, fault: 'No sound was recorded.' });
    return null;
  }

  /** Discards the recording. */
  drop(): void {
    this.#microphone.abort();
    this.#pieces = [];
    this.#set(IDLE);
  }
}
