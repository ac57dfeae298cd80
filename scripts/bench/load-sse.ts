import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatBody } from './bodies.ts';
import type { Figures } from './load-closed.ts';
import { memoryMb, spent } from './process-figures.ts';
import { LANES, type Target } from './targets.ts';

export interface SseLoad {
  readonly streams: number;
  readonly tokens: number;
  readonly everyUs: number;
  /** Milliseconds over which the streams begin. */
  readonly spreadMs?: number;
}

/** What the streams of one run told: milliseconds to the first token, microseconds of lateness of the others. */
interface Notes {
  readonly firstMs: number[];
  readonly lateUs: number[];
  bad: number;
}

function requestText(target: Target, load: SseLoad, index: number): string {
  const body = chatBody({ model: LANES[index % LANES.length], bytes: 200, turns: 1, stream: load });
  const headers = {
    Host: target.url.host,
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
    ...target.headers,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Finds the tokens in what arrives; each carries the clock of the model server, which is that of this machine. */
class TokenReader {
  readonly #notes: Notes;
  readonly #since: bigint;
  #tail = '';
  #first = true;

  constructor(notes: Notes, since: bigint) {
    this.#notes = notes;
    this.#since = since;
  }

  /** Takes the next bytes; true when the answer is complete. */
  push(bytes: Buffer): boolean {
    const now = process.hrtime.bigint();
    const text = this.#tail + bytes.toString('latin1');
    let last = 0;
    for (let at = text.indexOf('"ts":'); at >= 0; at = text.indexOf('"ts":', at + 1)) {
      const end = text.indexOf('}', at);
      if (end < 0) break;
      last = end;
      if (this.#first) this.#notes.firstMs.push(Number(now - this.#since) / 1e6);
      else this.#notes.lateUs.push((Number(now) - Number(text.slice(at + 5, end))) / 1e3);
      this.#first = false;
    }
    this.#tail = text.slice(Math.max(last, text.length - 400));
    return this.#tail.endsWith('0\r\n\r\n');
  }

  get complete(): boolean {
    return this.#tail.includes('[DONE]');
  }
}

/** One stream on a bare socket, from its connect to its last byte. */
function oneStream(target: Target, text: string, limitMs: number, notes: Notes): Promise<void> {
  return new Promise((resolve) => {
    let reader = new TokenReader(notes, process.hrtime.bigint());
    const socket = connect({ host: target.url.hostname, port: Number(target.url.port), noDelay: true });
    const end = (): void => {
      clearTimeout(limit);
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.destroy();
      if (!reader.complete) notes.bad++;
      resolve();
    };
    const limit = setTimeout(end, limitMs);
    socket.on('connect', () => {
      reader = new TokenReader(notes, process.hrtime.bigint());
      socket.write(text);
    });
    socket.on('data', (bytes) => {
      if (reader.push(bytes)) end();
    });
    socket.on('error', end).on('close', end);
  });
}

function rank(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}

/** So many paced event streams at once, each on a connection of its own. */
export async function sseStreams(target: Target, load: SseLoad): Promise<Figures> {
  const notes: Notes = { firstMs: [], lateUs: [], bad: 0 };
  const idleMb = memoryMb(target.pid, 'VmRSS');
  const limitMs = 5_000 + (load.tokens * load.everyUs) / 250;
  const start = async (_: unknown, index: number): Promise<void> => {
    if (load.spreadMs) await sleep((load.spreadMs * index) / load.streams);
    await oneStream(target, requestText(target, load, index), limitMs, notes);
  };
  const all = () => Promise.all(Array.from({ length: load.streams }, start));
  const { cpuUs, peakMb } = await spent(target.pid, all);
  return {
    ttft50_ms: rank(notes.firstMs, 0.5),
    ttft99_ms: rank(notes.firstMs, 0.99),
    late50_us: rank(notes.lateUs, 0.5),
    late99_us: rank(notes.lateUs, 0.99),
    cpu_us_tok: cpuUs / (load.streams * load.tokens),
    peak_mb: peakMb,
    over_start_mb: peakMb - idleMb,
    bad: notes.bad,
  };
}
