import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../lib/log.ts';
import { answerUnderWay } from './current-response.ts';
import { StalledSockets } from './stalled-sockets.ts';
import type { SilentSockets } from './unused-sockets.ts';

/** Connections above the limit that Node lets in: those that made room may take a moment to close. */
const MARGIN = 64;
const TELL_EVERY_MS = 60_000;
const LOOK_EVERY_MS = 5_000;

export interface Room {
  /** Most connections at once. */
  readonly most: number;
  readonly log: Pick<Log, 'warn'>;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** How often connections are looked at for readers that take nothing (ms). */
  readonly lookEveryMs?: number;
}

/** Why a connection ended for want of room: it waited for its first request or its next one, did not read, or had just come. */
type Fate = 'silent' | 'idle' | 'stalled' | 'refused';

/**
 * Keeps `most` connections at once. A newcomer above that takes the place of the one that has waited longest for its
 * first request, else of the oldest between two requests, else of the one that has not read its answer for longest; only
 * where every other one is being served is it refused. So nobody keeps others out by holding connections open. Told at most
 * once a minute, with the numbers since.
 */
export function keepRoom(server: Server, silent: SilentSockets, room: Room): void {
  /** Those that are open, in the order in which they came. */
  const open = new Set<Socket>();
  const upgraded = new WeakSet<Socket>();
  const stalled = new StalledSockets();
  const now = room.now ?? (() => performance.now());
  const tell = teller(room);
  const idle = (but: Socket): Socket | null => {
    for (const socket of open) {
      if (socket !== but && !upgraded.has(socket) && !answerUnderWay(socket)) return socket;
    }
    return null;
  };
  /** Who leaves, so that the newcomer may stay; the newcomer itself when nobody else can. */
  const leaving = (newcomer: Socket): { socket: Socket; fate: Fate } => {
    const waiting = silent.oldest(newcomer);
    if (waiting !== null) return { socket: waiting, fate: 'silent' };
    const between = idle(newcomer);
    if (between !== null) return { socket: between, fate: 'idle' };
    const unread = stalled.longest(open, now());
    return unread === null ? { socket: newcomer, fate: 'refused' } : { socket: unread, fate: 'stalled' };
  };
  const plain = function* () {
    for (const socket of open) if (!upgraded.has(socket)) yield socket;
  };
  const looks = setInterval(() => stalled.look(plain(), now()), room.lookEveryMs ?? LOOK_EVERY_MS);
  looks.unref();
  server.once('close', () => clearInterval(looks));

  server.maxConnections = room.most + MARGIN;
  server.on('drop', () => tell('refused'));
  server.on('upgrade', (req: IncomingMessage) => upgraded.add(req.socket));
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= room.most) return;
    const { socket: leaves, fate } = leaving(socket);
    // Its place is free at once, although it closes a moment later: the next newcomer ends another one.
    open.delete(leaves);
    leaves.destroy();
    tell(fate);
  });
}

function teller({ most, log, now = () => performance.now() }: Room): (fate: Fate) => void {
  const none = { silent: 0, idle: 0, stalled: 0, refused: 0 };
  let counts: Record<Fate, number> = { ...none };
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (fate) => {
    counts[fate]++;
    if (now() < quietUntil) return;
    quietUntil = now() + TELL_EVERY_MS;
    log.warn(
      { most, ...counts },
      'every connection is taken: silent, idle and unread ones were ended for newer ones',
    );
    counts = { ...none };
  };
}
