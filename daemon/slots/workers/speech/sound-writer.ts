import { fromPcm16, toPcm16, wavHeader } from '../../../lib/media/pcm.ts';
import { Resampler } from '../../../lib/media/resampler.ts';
import type { ByteStream } from '../byte-stream.ts';
import type { SpeechRequest } from './request.ts';
import type { SpeechChunk } from './speaker.ts';

/** Raw samples carry no rate, so they always use the rate that OpenAI documents. */
export const PCM_RATE = 24_000;

/** Writes pieces of speech as one response. */
export class SoundWriter {
  readonly #format: SpeechRequest['format'];
  readonly #begin: (type: string) => ByteStream;
  #out: ByteStream | null = null;
  #resampler: Resampler | null = null;

  /** Calls `begin` with the first piece, so that an earlier refusal still gets its own status code. */
  constructor(format: SpeechRequest['format'], begin: (type: string) => ByteStream) {
    this.#format = format;
    this.#begin = begin;
  }

  get hasStarted(): boolean {
    return this.#out !== null;
  }

  async write(spoken: SpeechChunk): Promise<void> {
    if (this.#format === 'wav') return this.#writeWav(spoken);
    this.#out ??= this.#begin('audio/pcm');
    this.#resampler ??= new Resampler(spoken.rate, PCM_RATE);
    await this.#send(toPcm16(this.#resampler.push(fromPcm16(spoken.pcm))));
  }

  async end(): Promise<void> {
    if (this.#resampler !== null) await this.#send(toPcm16(this.#resampler.flush()));
    this.#out?.end();
  }

  /** Aborts a started response that cannot be completed. */
  abort(): void {
    this.#out?.abort();
  }

  async #writeWav({ rate, pcm, last }: SpeechChunk): Promise<void> {
    const first = this.#out === null;
    this.#out ??= this.#begin('audio/wav');
    if (!first) return this.#send(pcm);
    await this.#send(Buffer.concat([wavHeader(rate, last ? pcm.length : null), pcm]));
  }

  async #send(bytes: Buffer): Promise<void> {
    if (bytes.length > 0) await this.#out?.write(bytes);
  }
}
