import { openMicrophone } from '../sound/microphone.ts';
import { wavFile } from '../sound/pcm.ts';

/** Half an hour: 86 MB of samples in the page. */
const MOST_PIECES = 30 * 60 * 25;

export interface RecordingState {
  /** `opening`: the browser asks whether it may, or the microphone is being opened. */
  readonly phase: 'idle' | 'opening' | 'running';
  /** When it began. */
  readonly since: number;
  readonly fault: string | null;
}

const IDLE: RecordingState = { phase: 'idle', since: 0, fault: null };

/** A recording from the microphone, one at a time: no microphone stays open beyond it. */
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

  /** Begins to record; does nothing while it is at it. Call it from a click. Never rejects. */
  async start(): Promise<void> {
    if (this.#now.phase !== 'idle') return;
    const pieces: Int16Array<ArrayBuffer>[] = [];
    this.#pieces = pieces;
    this.#microphone = new AbortController();
    const { signal } = this.#microphone;
    this.#set({ ...IDLE, phase: 'opening' });
    try {
      await openMicrophone((samples) => {
        if (pieces.length < MOST_PIECES) pieces.push(samples);
      }, signal);
      signal.throwIfAborted();
      this.#set({ ...IDLE, phase: 'running', since: Date.now() });
    } catch (error) {
      if (signal.aborted) return;
      this.#set({ ...IDLE, fault: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Ends the recording; answers it as a WAV file, which every gateway understands without further programs. */
  stop(): File | null {
    if (this.#now.phase !== 'running') return null;
    const pieces = this.#pieces;
    this.drop();
    if (pieces.length > 0) return new File([wavFile(pieces)], 'recording.wav', { type: 'audio/wav' });
    this.#set({ ...IDLE, fault: 'Nothing was heard.' });
    return null;
  }

  /** Ends it without a file, whatever it is at. */
  drop(): void {
    this.#microphone.abort();
    this.#pieces = [];
    this.#set(IDLE);
  }
}
