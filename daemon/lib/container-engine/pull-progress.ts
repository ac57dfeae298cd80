import { z } from 'zod';

const Event = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).optional(),
});

/** Maximum number of tracked layers. Images have dozens. */
const MAX_LAYERS = 512;
/** Maximum length of a line of the progress stream. Real lines have hundreds of bytes. */
const MAX_LINE_LENGTH = 64 * 1024;
const DONE = /^(Pull complete|Already exists|Download complete)/i;

interface Layer {
  readonly current: number;
  readonly total: number;
}

/**
 * Parses the progress stream of an image pull: one JSON object per line. Podman and Docker both report
 * "Downloading" with bytes for each layer, and a failure as `error` inside a 200 response.
 */
export class PullProgress {
  readonly #layers = new Map<string, Layer>();
  readonly #decoder = new TextDecoder();
  #open = '';
  #share: number | null = null;
  #error: string | null = null;

  /** Downloaded share of the known bytes, 0 to 1. Never decreases. Null before any size is known. */
  get share(): number | null {
    return this.#share;
  }

  /** Error text of the engine, or null. */
  get error(): string | null {
    return this.#error;
  }

  push(chunk: Uint8Array): void {
    const lines = (this.#open + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#open = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    for (const line of lines) this.#readLine(line);
  }

  /** Ends the stream. Its last line may lack a line end. */
  end(): void {
    this.#readLine(this.#open);
    this.#open = '';
  }

  #readLine(line: string): void {
    let read: unknown;
    try {
      read = JSON.parse(line);
    } catch {
      return;
    }
    const event = Event.safeParse(read);
    if (!event.success) return;
    const { id, status, error, progressDetail } = event.data;
    if (error !== undefined) this.#error ??= error;
    if (id !== undefined) this.#updateLayer(id, status ?? '', progressDetail?.current, progressDetail?.total);
  }

  #updateLayer(id: string, status: string, current: number | undefined, total: number | undefined): void {
    const known = this.#layers.get(id);
    if (DONE.test(status)) {
      if (known !== undefined) this.#layers.set(id, { ...known, current: known.total });
    } else if (status === 'Downloading' && current !== undefined && total !== undefined && total > 0) {
      if (known === undefined && this.#layers.size >= MAX_LAYERS) return;
      this.#layers.set(id, { current: Math.min(current, total), total });
    } else return;
    const sum = (pick: (layer: Layer) => number) =>
      [...this.#layers.values()].reduce((all, layer) => all + pick(layer), 0);
    const total_ = sum((layer) => layer.total);
    if (total_ > 0) this.#share = Math.max(this.#share ?? 0, sum((layer) => layer.current) / total_);
  }
}
