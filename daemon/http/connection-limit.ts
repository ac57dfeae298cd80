import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../lib/log.ts';
import { currentResponse } from './current-response.ts';
import { StalledSockets } from './stalled-sockets.ts';
import type { UnusedSockets } from './unused-sockets.ts';

/** Connections above the limit that Node lets in: those that made room may take a moment to close. */
const MARGIN = 64;
const LOG_INTERVAL_MS = 60_000;
const CHECK_INTERVAL_MS = 5_000;

export interface ConnectionLimitOptions {
  /** Most connections at once. */
  readonly maxConnections: number;
  readonly log: Pick<Log, 'warn'>;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** How often connections are looked at for readers that take nothing (ms). */
  readonly checkIntervalMs?: number;
}

/** Why a connection ended for want of room: it waited for its first request or its next one, did not read, or had just come. */
type EvictionReason = 'silent' | 'idle' | 'stalled' | 'refused';

/**
 * Keeps `most` connections at once. A newcomer above that takes the place of the one that has waited longest for its
 * first request, else of the oldest between two requests, else of the one that has not read its answer for longest; only
 * where every other one is being served is it refused. So nobody keeps others out by holding connections open. Told at most
 * once a minute, with the numbers since.
 */
export function enforceConnectionLimit(
  server: Server,
  unused: UnusedSockets,
  options: ConnectionLimitOptions,
): void {
  /** Those that are open, in the order in which they came. */
  const open = new Set<Socket>();
  const upgraded = new WeakSet<Socket>();
  const stalled = new StalledSockets();
  const now = options.now ?? (() => performance.now());
  const logEviction = createEvictionLogger(options);
  const idle = (but: Socket): Socket | null => {
    for (const socket of open) {
      if (socket !== but && !upgraded.has(socket) && !currentResponse(socket)) return socket;
    }
    return null;
  };
  /** Who leaves, so that the newcomer may stay; the newcomer itself when nobody else can. */
  const chooseVictim = (newcomer: Socket): { socket: Socket; fate: EvictionReason } => {
    const waiting = unused.oldest(newcomer);
    if (waiting !== null) return { socket: waiting, fate: 'silent' };
    const between = idle(newcomer);
    if (between !== null) return { socket: between, fate: 'idle' };
    const unread = stalled.longestStalled(open, now());
    return unread === null ? { socket: newcomer, fate: 'refused' } : { socket: unread, fate: 'stalled' };
  };
  const httpSockets = function* () {
    for (const socket of open) if (!upgraded.has(socket)) yield socket;
  };
  const timer = setInterval(
    () => stalled.sample(httpSockets(), now()),
    options.checkIntervalMs ?? CHECK_INTERVAL_MS,
  );
  timer.unref();
  server.once('close', () => clearInterval(timer));

  server.maxConnections = options.maxConnections + MARGIN;
  server.on('drop', () => logEviction('refused'));
  server.on('upgrade', (req: IncomingMessage) => upgraded.add(req.socket));
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= options.maxConnections) return;
    const { socket: leaves, fate: reason } = chooseVictim(socket);
    // Its place is free at once, although it closes a moment later: the next newcomer ends another one.
    open.delete(leaves);
    leaves.destroy();
    logEviction(reason);
  });
}

function createEvictionLogger({
  maxConnections,
  log,
  now = () => performance.now(),
}: ConnectionLimitOptions): (fate: EvictionReason) => void {
  const none = { silent: 0, idle: 0, stalled: 0, refused: 0 };
  let counts: Record<EvictionReason, number> = { ...none };
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (fate) => {
    counts[fate]++;
    if (now() < quietUntil) return;
    quietUntil = now() + LOG_INTERVAL_MS;
    log.warn(
      { most: maxConnections, ...counts },
      'the connection limit is reached; unused, idle and stalled connections were closed for new ones',
    );
    counts = { ...none };
  };
}
