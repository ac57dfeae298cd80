import { runCommand } from '../../lib/process/run-command.ts';
import { type StreamedCommand, streamCommand } from '../../lib/process/stream-command.ts';
import { ENCODINGS, encodableFormats, encoderArgs, type SoundFormat } from './formats.ts';

/** How long a missing program is cached, so that one installed later is found. */
const ABSENT_TTL_MS = 30_000;
const LIST_LIMIT_MS = 10_000;
const LIST_BYTES = 256 * 1024;

/** Encodes audio with the encoder program of this machine, if there is one. */
export class Encoders {
  readonly #program: string;
  #formats: Promise<ReadonlySet<SoundFormat>> | null = null;
  #queriedAt = 0;

  constructor(program = 'ffmpeg') {
    this.#program = program;
  }

  /** Returns the formats that can be encoded now. Never rejects. */
  async formats(): Promise<ReadonlySet<SoundFormat>> {
    const known = await this.#formats;
    if (known !== null && (known.size > 0 || performance.now() - this.#queriedAt < ABSENT_TTL_MS))
      return known;
    this.#queriedAt = performance.now();
    this.#formats = this.#queryFormats();
    return this.#formats;
  }

  /** Starts an encoder for raw PCM samples. */
  open(format: SoundFormat, signal: AbortSignal): StreamedCommand {
    const encoding = ENCODINGS[format];
    if (encoding === undefined) throw new Error(`${format} needs no encoder`);
    const command = streamCommand(this.#program, encoderArgs(encoding), { input: 'pipe', signal });
    void command.ended.then(({ missing }) => this.#onEnded(missing));
    return command;
  }

  /** Drops the cached formats when the program was removed. */
  #onEnded(missing: boolean): void {
    if (missing) this.#formats = null;
  }

  async #queryFormats(): Promise<ReadonlySet<SoundFormat>> {
    const limits = { timeoutMs: LIST_LIMIT_MS, maxBytes: LIST_BYTES };
    const { code, stdout } = await runCommand(this.#program, ['-hide_banner', '-encoders'], limits);
    return code === 0 ? encodableFormats(stdout) : new Set();
  }
}
