import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ServerOptions, WebSocket } from 'ws';
import { type ErrorCode, GatewayError } from '../contract/errors.ts';
import type { Call, SocketRouteId } from '../routes/handler.ts';
import { asGatewayError } from './error-envelope.ts';
import { admit, type GuardDeps, guard, guardOrigin } from './guards.ts';

/** What serves one accepted socket. */
export type SocketHandler = (socket: WebSocket, call: Call) => void | Promise<void>;

export interface WsPipelineDeps extends GuardDeps {
  sockets: Record<SocketRouteId, SocketHandler>;
}

/** Largest message of a client: audio is sent in small pieces. */
const MAX_MESSAGE_BYTES = 1 << 20;
/** Open sockets in all. */
const MAX_SOCKETS = 256;

/** Close codes: the spec's 4403 for Origin, 4401 for the tier, and their neighbours. */
const CLOSE_CODES: Partial<Record<ErrorCode, number>> = {
  'auth.origin_forbidden': 4403,
  'auth.required': 4401,
  'auth.forbidden': 4401,
  'route.not_found': 4404,
  'route.method_not_allowed': 4404,
  'auth.rate_limited': 4429,
};

/** The protocol that is answered; the one that carries a key is never echoed. */
export function chooseProtocol(offered: Set<string>): string | false {
  return offered.has('realtime') ? 'realtime' : false;
}

/** Options of the WebSocket server: caps, and the checks that must refuse before the handshake (framing, Host). */
export function wsOptions(deps: GuardDeps): ServerOptions {
  return {
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: chooseProtocol,
    verifyClient: ({ req }, done) => {
      try {
        admit(deps, req, true);
        done(true);
      } catch (error) {
        const id = randomUUID();
        const failure = asGatewayError(error, deps.log, id);
        deps.refused(failure.code);
        done(false, failure.status, JSON.stringify(failure.envelope('openai')), {
          'Content-Type': 'application/json',
          'X-Request-Id': id,
        });
      }
    },
  };
}

interface OpenSocket {
  socket: WebSocket;
  call: Call;
}

/** The guards of an upgrade, after the handshake, and the book of open sockets. */
export class WsPipeline {
  readonly #deps: WsPipelineDeps;
  readonly #open = new Set<OpenSocket>();

  constructor(deps: WsPipelineDeps) {
    this.#deps = deps;
  }

  /** Judges a fresh socket; every path ends in a handler or in a close. */
  async accept(socket: WebSocket, req: IncomingMessage): Promise<void> {
    const id = randomUUID();
    try {
      if (this.#open.size >= MAX_SOCKETS) return socket.close(1013, 'too many sockets');
      const call = await guard(this.#deps, admit(this.#deps, req, true), id, performance.now());
      const handler = this.#deps.sockets[call.route.id as SocketRouteId];
      if (!handler) throw new GatewayError('route.not_found');
      this.#track(socket, call);
      await handler(socket, call);
    } catch (error) {
      const failure = asGatewayError(error, this.#deps.log, id);
      this.#deps.refused(failure.code);
      this.#shut(socket, CLOSE_CODES[failure.code] ?? 1011, failure.code);
    }
  }

  /** Judges every open socket anew: after rotation, logout and a change of enforcement. */
  recheck(): void {
    for (const { socket, call } of this.#open) {
      try {
        guardOrigin(this.#deps, call.auth);
        const caller = this.#deps.auth.caller(call.auth);
        if (this.#deps.auth.decide(call.route.auth, caller, call.auth) === 'pass') continue;
        this.#shut(socket, 4401, 'auth.required');
      } catch {
        this.#shut(socket, 4403, 'auth.origin_forbidden');
      }
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open) this.#shut(socket, 1001, 'going away');
  }

  #track(socket: WebSocket, call: Call): void {
    const entry = { socket, call };
    this.#open.add(entry);
    socket.on('close', () => this.#open.delete(entry));
  }

  /** Closes, and cuts a peer that does not answer the close frame. */
  #shut(socket: WebSocket, code: number, reason: string): void {
    socket.close(code, reason);
    const timer = setTimeout(() => socket.terminate(), 1500);
    socket.once('close', () => clearTimeout(timer));
  }
}
