import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { GatewayError } from '../../contract/errors.ts';
import type { GatewayEvents } from '../../contract/events.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import type { RequestRecord } from '../../contract/system.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { listenOnLoopback } from '../../lib/testing/listening.ts';
import { SETTINGS, type SettingName, type SettingValue } from '../../settings/catalogue.ts';
import type { Preview } from '../../slots/admission/preview.ts';
import type { Dialect } from '../../slots/engines/engine.ts';
import type { EngineDiagnosis } from '../../slots/lifecycle/controller-deps.ts';
import type { ReadyOptions } from '../../slots/lifecycle/lease.ts';
import { removedError } from '../../slots/refusals.ts';
import type { FinishedRequest } from '../../telemetry/metrics.ts';
import type { Encoders } from '../audio/encoders.ts';
import type { DialectName } from '../dialects/serve-dialect.ts';
import { INTERNAL_ROUTES } from '../internal.ts';
import type { RegisteredModelLike, Upstreams } from '../ports.ts';
import { createInference, type Inference } from '../serve.ts';
import type { TaskName } from '../tasks.ts';

/** An HTTP server on a free loopback port, with its open sockets. */
export interface TestServer {
  readonly server: Server;
  readonly origin: string;
  readonly sockets: Set<Socket>;
  close(): Promise<void>;
}

export async function listen(handler: RequestListener): Promise<TestServer> {
  const server = createServer(handler);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    });
  return { server, origin, sockets, close };
}

/** The slots of a test: mutable records and a configurable `ensureReady`. */
export class TestSlots {
  records: SlotRecord[];
  engine = '';
  released = 0;
  leased = 0;
  readonly notes: number[] = [];
  readonly requests: string[] = [];
  enableThinking: boolean | null = null;
  /** Runs before a lease is granted; may throw. */
  before: (name: string, options: ReadyOptions) => Promise<void> | void = () => {};

  /** Overrides of the engine's dialect. */
  dialect: Partial<Dialect> = {};

  constructor(records: SlotRecord[]) {
    this.records = records;
  }

  list = () => this.records;
  views = () => this.records;
  get = (name: string) => this.records.find((slot) => slot.name === name);
  config = () => ({ enableThinking: this.enableThinking }) as never;
  /** Previews by slot. */
  previews: Record<string, Preview> = {};
  preview = (name: string): Preview => this.previews[name] ?? { load: null, refusal: null };
  recordUsage = (_: string, { tokensPerSecond }: { tokensPerSecond?: number }) =>
    void this.notes.push(tokensPerSecond ?? -1);

  /** What a check of the engine finds after a failed call. */
  diagnosis: EngineDiagnosis = { reason: null, lines: [] };
  readonly diagnosed: string[] = [];
  diagnose = async (name: string) => {
    this.diagnosed.push(name);
    return this.diagnosis;
  };

  leaseNow = () => null;
  ensureReady = async (name: string, options: ReadyOptions) => {
    options.signal.throwIfAborted();
    this.requests.push(name);
    const waiting = this.before(name, options);
    if (waiting) await waiting;
    const slot = this.get(name);
    if (!slot) throw removedError(name);
    this.leased++;
    return {
      slot: name,
      model: slot.model ?? 'none',
      dialect: { nativeRerank: true, model: slot.model ?? 'none', ...this.dialect },
      origin: this.engine,
      headers: { authorization: 'Bearer engine-key' },
      state: 'ready' as const,
      device: 'cpu',
      degraded: slot.degraded,
      startedAt: 0,
      readyAt: 0,
      release: () => void this.released++,
      releaseAfter: (idle: Promise<unknown>) => void idle.finally(() => void this.released++),
    };
  };
}

export interface TestGateway extends TestServer {
  readonly inference: Inference;
  readonly log: RequestRecord[];
  readonly finished: FinishedRequest[];
}

export interface GatewayOptions {
  slots: TestSlots;
  models?: RegisteredModelLike[];
  upstreams?: Upstreams;
  encoders?: Encoders;
  settings?: Partial<Record<SettingName, unknown>>;
  imageFolder?: string;
  proxyFor?(origin: string): string | null;
}

const TASK_OF: Record<string, { task: TaskName | DialectName; route: string }> = {
  '/v1/responses': { task: 'responses', route: 'v1.responses' },
  '/v1/messages': { task: 'messages', route: 'v1.messages' },
  '/v1/messages/count_tokens': { task: 'messagesCount', route: 'v1.messages.count' },
  '/v1/rerankings': { task: 'rerank', route: 'v1.rerankings' },
  ...INTERNAL_ROUTES,
};

/**
 * Starts inference behind a minimal server that reads the body and writes the error envelope like the
 * pipeline.
 */
export async function openGateway(options: GatewayOptions): Promise<TestGateway> {
  const log: RequestRecord[] = [];
  const finished: FinishedRequest[] = [];
  // Gateway, engine and client share one event loop: a pause of it must not end a connection.
  const settings = { connectTimeoutS: 60, ...options.settings };
  const value = <N extends SettingName>(name: N) =>
    (settings[name] ?? SETTINGS[name].default) as SettingValue<N>;
  const inference = createInference({
    spoolFolder: join(tmpdir(), 'svc-inference-spool'),
    imageFolder: options.imageFolder ?? join(tmpdir(), 'svc-inference-images'),
    encoders: options.encoders,
    settings: { value },
    slots: options.slots,
    registry: { list: () => options.models ?? [] },
    upstreams: options.upstreams,
    store: { requests: { add: (record) => void log.push(record) } },
    bus: new EventBus<GatewayEvents>(),
    metrics: { finished: (request) => void finished.push(request) },
    log: pino({ level: 'silent' }),
    ...(options.proxyFor && { proxyFor: options.proxyFor }),
  });
  let count = 0;
  const server = await listen((req, res) => void serve(inference, `r${++count}`, req, res));
  const close = async () => {
    await inference.stop();
    await server.close();
  };
  return { ...server, inference, log, finished, close };
}

async function serve(
  inference: Inference,
  id: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const receivedAt = performance.now();
  const parts: Buffer[] = [];
  req.on('data', (chunk: Buffer) => parts.push(chunk));
  await new Promise((done) => req.once('end', done));
  const path = (req.url ?? '').split('?')[0] ?? '';
  const { task, route } = TASK_OF[path] ?? { task: 'chat', route: 'v1.chat' };
  res.setHeader('x-request-id', id);
  const body = Buffer.concat(parts);
  try {
    await inference[task]({
      id,
      route: route as never,
      path,
      tier: 'client',
      req,
      res,
      body,
      receive: async (take) => {
        for (const part of parts) await take(part);
      },
      receivedAt,
      overheadSince: performance.now(),
    });
  } catch (error) {
    const failure = error instanceof GatewayError ? error : new GatewayError('internal', { cause: error });
    if (res.headersSent) throw new Error('thrown after the head', { cause: error });
    res.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers() });
    res.end(JSON.stringify(failure.envelope('openai')));
  }
}
