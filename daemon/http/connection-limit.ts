import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../lib/log.ts';
import { currentResponse } from './current-response.ts';
import { StalledSockets } from './stalled-sockets.ts';
import type { UnusedSockets } from './unused-sockets.ts';

/** Connections that Node accepts above the limit, because evicted ones may take a moment to close. */
const MARGIN = 64;
const LOG_INTERVAL_MS = 60_000;
const CHECK_INTERVAL_MS = 5_000;

export interface ConnectionLimitOptions {
  /** Most connections at once. */
  readonly maxConnections: number;
  readonly log: Pick<Log, 'warn'>;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Interval of the check for stalled readers (ms). */
  readonly checkIntervalMs?: number;
}

/**
 * Why a connection was closed at the limit: it waited for its first request, was idle between requests, did
 * not read, or was new.
 */
type EvictionReason = 'silent' | 'idle' | 'stalled' | 'refused';

/**
 * Keeps at most `maxConnections` open. A new connection above the limit evicts the one that has waited
 * longest for its first request, else the oldest idle one, else the one that has not read its response for
 * longest. It is refused only when every other connection is being served, so holding connections open keeps
 * no client out. Logs at most once a minute, with the counts since.
 */
export function enforceConnectionLimit(
  server: Server,
  unused: UnusedSockets,
  options: ConnectionLimitOptions,
): void {
  /** Open connections in order of arrival. */
  const open = new Set<Socket>();
  const upgraded = new WeakSet<Socket>();
  const stalled = new StalledSockets();
  const now = options.now ?? (() => performance.now());
  const logEviction = createEvictionLogger(options);
  const idle = (except: Socket): Socket | null => {
    for (const socket of open) {
      if (socket !== except && !upgraded.has(socket) && !currentResponse(socket)) return socket;
    }
    return null;
  };
  /** Returns the connection to close; the new one when no other can be closed. */
  const chooseVictim = (newSocket: Socket): { socket: Socket; reason: EvictionReason } => {
    const waiting = unused.oldest(newSocket);
    if (waiting !== null) return { socket: waiting, reason: 'silent' };
    const between = idle(newSocket);
    if (between !== null) return { socket: between, reason: 'idle' };
    const unread = stalled.longestStalled(open, now());
    return unread === null ? { socket: newSocket, reason: 'refused' } : { socket: unread, reason: 'stalled' };
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
    const { socket: victim, reason } = chooseVictim(socket);
    // Frees its capacity immediately, although it closes later, so that the next new connection evicts
    // another one.
    open.delete(victim);
    victim.destroy();
    logEviction(reason);
  });
}

function createEvictionLogger({
  maxConnections,
  log,
  now = () => performance.now(),
}: ConnectionLimitOptions): (reason: EvictionReason) => void {
  const none = { silent: 0, idle: 0, stalled: 0, refused: 0 };
  let counts: Record<EvictionReason, number> = { ...none };
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (reason) => {
    counts[reason]++;
    if (now() < quietUntil) return;
    quietUntil = now() + LOG_INTERVAL_MS;
    log.warn(
      { most: maxConnections, ...counts },
      'the connection limit is reached; unused, idle and stalled connections were closed for new ones',
    );
    counts = { ...none };
  };
}
