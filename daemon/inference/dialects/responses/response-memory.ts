import type { Json } from '../json.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const TTL_MS = 30 * 60_000;
/** Maximum bytes of one response. A longer one is not stored. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** Memory of an entry besides its texts, estimated. */
const ENTRY_BYTES = 1024;
const ITEM_BYTES = 256;

/** A response as later requests may refer to it. */
export interface StoredResponse {
  readonly id: string;
  /** The response that it continues; null for the first. */
  readonly previous: string | null;
  /** The items of its request, without those of earlier responses. */
  readonly input: readonly unknown[];
  readonly output: readonly Json[];
}

/** The memory of one caller. */
export interface CallerMemory {
  store(response: StoredResponse): void;
  /** Returns the output item with this id; undefined when it is gone. */
  item(id: string): unknown;
  /** Returns all items up to the end of this response; undefined when one of its responses is gone. */
  conversation(id: string): readonly unknown[] | undefined;
}

interface Entry {
  readonly previous: string | null;
  readonly input: Buffer;
  readonly itemKeys: readonly string[];
  readonly bytes: number;
  readonly expiresAt: number;
}

export interface ResponseMemoryOptions {
  readonly maxBytes?: number;
  readonly ttlMs?: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/**
 * Stores recent responses in memory for `item_reference` and `previous_response_id`
 * (docs/spec/contract.md#item-references). A caller sees only its own. The oldest responses are removed
 * first.
 */
export class ResponseMemory {
  readonly #maxBytes: number;
  readonly #ttlMs: number;
  readonly #now: () => number;
  /** In the order of storing, which is also the order of expiry. */
  readonly #entries = new Map<string, Entry>();
  /** The JSON texts of output items. */
  readonly #items = new Map<string, Buffer>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor({ maxBytes = MAX_BYTES, ttlMs = TTL_MS, now }: ResponseMemoryOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#ttlMs = ttlMs;
    this.#now = now ?? (() => performance.now());
  }

  /** Bytes in use, as they count for the limit. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the part of the memory that belongs to a caller. */
  of(caller: string): CallerMemory {
    return {
      store: (response) => this.#store(caller, response),
      item: (id) => {
        this.#removeExpired();
        return parsedText(this.#items.get(`${caller} ${id}`));
      },
      conversation: (id) => {
        this.#removeExpired();
        return this.#conversation(caller, id);
      },
    };
  }

  #store(caller: string, { id, previous, input, output }: StoredResponse): void {
    this.#removeExpired();
    const text = asText(input);
    const items = output.flatMap((item) =>
      typeof item.id === 'string' ? [[`${caller} ${item.id}`, asText(item)] as const] : [],
    );
    const sizes = items.map(([key, item]) => key.length + item.length + ITEM_BYTES);
    const bytes = sizes.reduce((sum, size) => sum + size, ENTRY_BYTES + text.length);
    const key = `${caller} ${id}`;
    if (bytes > Math.min(MAX_RESPONSE_BYTES, this.#maxBytes)) return;
    this.#remove(key);
    for (const [itemKey, item] of items) this.#items.set(itemKey, item);
    const itemKeys = items.map(([itemKey]) => itemKey);
    this.#entries.set(key, { previous, input: text, itemKeys, bytes, expiresAt: this.#now() + this.#ttlMs });
    this.#bytes += bytes;
    this.#removeLater();
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest);
    }
  }

  #conversation(caller: string, id: string): readonly unknown[] | undefined {
    const responses: Entry[] = [];
    // A response can only continue an older one, so the chain ends.
    for (let next: string | null = id; next !== null; ) {
      const entry: Entry | undefined = this.#entries.get(`${caller} ${next}`);
      if (entry === undefined) return undefined;
      responses.push(entry);
      next = entry.previous;
    }
    return responses
      .reverse()
      .flatMap(({ input, itemKeys }) => [
        ...(parsedText(input) as unknown[]),
        ...itemKeys.map((key) => parsedText(this.#items.get(key))),
      ]);
  }

  #removeExpired(): void {
    const now = this.#now();
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt > now) return;
      this.#remove(key);
    }
  }

  /** Removes expired responses also when no request comes. */
  #removeLater(): void {
    if (this.#timer !== null || this.#entries.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#removeExpired();
      this.#removeLater();
    }, this.#ttlMs).unref();
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    for (const itemKey of entry.itemKeys) this.#items.delete(itemKey);
  }
}

const asText = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const parsedText = (text: Buffer | undefined): unknown =>
  text === undefined ? undefined : JSON.parse(text.toString('utf8'));
