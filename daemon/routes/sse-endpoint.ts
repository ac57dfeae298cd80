import type { ServerResponse } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import type { ClassRule } from '../contract/routes.ts';
import { sseComment, sseEvent } from '../lib/net/sse.ts';
import type { RouteDeps } from './deps.ts';
import type { RouteContext } from './handler.ts';

const KEEP_ALIVE_MS = 15_000;
/**
 * After a write, further events are batched for this many milliseconds: a busy gateway writes once for many
 * events.
 */
const BATCH_MS = 20;
/**
 * Maximum bytes that wait for a slow reader before it is disconnected. It can reconnect with `Last-Event-ID`.
 */
const MAX_BACKLOG = 1 << 20;

const HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  connection: 'close',
};

/** One reader of a stream of server-sent events. */
export interface EventStream {
  /** Sends one event. Disconnects a reader that is too slow or has lost its rights. */
  send(event: { id?: number; event: string; data: string }): void;
  /** Sends the current id, so that the reader can resume from here. */
  sendId(id: number): void;
  /** Ends the response properly. */
  end(): void;
  /** Runs `act` when the reader disconnects, for any reason. */
  onClose(act: () => void): void;
  readonly open: boolean;
  /** Whether the reader may use an admin route now. Evaluated once per batch. */
  isAdmin(): boolean;
}

export type SseEndpointDeps = Pick<RouteDeps, 'auth' | 'stopping'>;

/**
 * Opens streams of server-sent events for a limited number of readers. The rights of each reader are checked
 * at every write, heartbeat comments included, and after every change of keys, sessions or enforcement. A
 * stop of the gateway ends the streams immediately, because they would never drain.
 */
export class SseEndpoint {
  readonly #deps: SseEndpointDeps;
  readonly #maxReaders: number;
  readonly #reserved: number;
  readonly #readers = new Set<Reader>();

  /** Accepts `maxReaders` readers; the last `reserved` ones must have admin rights. */
  constructor(deps: SseEndpointDeps, maxReaders: number, reserved = 0) {
    this.#deps = deps;
    this.#maxReaders = maxReaders;
    this.#reserved = reserved;
    deps.stopping.addEventListener('abort', () => {
      for (const reader of [...this.#readers]) reader.end();
    });
    deps.auth.onChange(() => {
      for (const reader of [...this.#readers]) reader.recheck();
    });
  }

  /** Writes the head. Throws `slot.draining` while the gateway stops and `events.too_many` beyond the bound. */
  open(ctx: RouteContext): EventStream {
    const { auth, stopping } = this.#deps;
    const { auth: request, route } = ctx.state;
    if (stopping.aborted) throw new GatewayError('slot.draining', { retryAfterS: 5 });
    const passes = (rule: ClassRule) => auth.decide(rule, auth.caller(request), request) === 'pass';
    const reserved = this.#reserved === 0 || passes('admin') ? 0 : this.#reserved;
    if (this.#readers.size >= this.#maxReaders - reserved)
      throw new GatewayError('events.too_many', { retryAfterS: 5 });
    const reader = new Reader(ctx.res, passes, route.auth);
    this.#readers.add(reader);
    reader.onClose(() => this.#readers.delete(reader));
    // The reader writes itself: its limit is what waits in the socket (https://koajs.com/#ctx-respond).
    ctx.respond = false;
    ctx.res.writeHead(200, HEAD);
    ctx.res.write(`retry: 1000\n${sseComment('connected')}`);
    if (ctx.req.method === 'HEAD') reader.end();
    return reader;
  }
}

class Reader implements EventStream {
  readonly #res: ServerResponse;
  readonly #passes: (rule: ClassRule) => boolean;
  readonly #rule: ClassRule;
  readonly #closeListeners: (() => void)[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #pending = '';
  /** The cached check for the current batch; null when not evaluated yet. */
  #isAdminCached: boolean | null = null;
  #flushTimer: ReturnType<typeof setTimeout> | null = null;
  open = true;

  constructor(res: ServerResponse, passes: (rule: ClassRule) => boolean, rule: ClassRule) {
    this.#res = res;
    this.#passes = passes;
    this.#rule = rule;
    this.#timer = setInterval(() => this.#write(sseComment('keep-alive')), KEEP_ALIVE_MS);
    res.on('close', () => this.#onClosed());
  }

  send(event: { id?: number; event: string; data: string }): void {
    this.#write(sseEvent(event));
  }

  sendId(id: number): void {
    this.#write(`id: ${id}\n\n`);
  }

  isAdmin(): boolean {
    if (this.#flushTimer === null) return this.#passes('admin');
    this.#isAdminCached ??= this.#passes('admin');
    return this.#isAdminCached;
  }

  /** Called after each change of rights. Text that is already pending was permitted and is still sent. */
  recheck(): void {
    this.#isAdminCached = null;
    if (!this.open || this.#passes(this.#rule)) return;
    const held = this.#pending;
    if (held === '' && this.#res.writableLength === 0) {
      this.#res.destroy();
      return;
    }
    this.#onClosed();
    this.#res.end(held, () => this.#res.destroy());
  }

  end(): void {
    if (!this.open) return;
    this.#flush();
    if (!this.open) return;
    this.#onClosed();
    this.#res.end();
  }

  onClose(act: () => void): void {
    if (this.open) this.#closeListeners.push(act);
    else act();
  }

  #write(text: string): void {
    if (!this.open) return;
    if (this.#res.writableLength + this.#pending.length > MAX_BACKLOG) this.#res.destroy();
    else if (this.#flushTimer !== null) this.#pending += text;
    else this.#put(text);
  }

  /** Writes, then batches further writes. Checks the rights of the reader each time. */
  #put(text: string): void {
    if (!this.#passes(this.#rule)) {
      this.#res.destroy();
      return;
    }
    this.#res.write(text);
    this.#flushTimer = setTimeout(() => this.#flush(), BATCH_MS);
  }

  #flush(): void {
    const text = this.#pending;
    this.#pending = '';
    this.#isAdminCached = null;
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer);
    this.#flushTimer = null;
    if (this.open && text !== '') this.#put(text);
  }

  #onClosed(): void {
    if (!this.open) return;
    this.open = false;
    clearInterval(this.#timer);
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer);
    for (const act of this.#closeListeners) act();
  }
}
