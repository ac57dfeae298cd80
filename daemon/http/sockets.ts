import type { WebSocket } from 'ws';
import { type ErrorCode, GatewayError } from '../contract/errors.ts';
import { errorEvent } from '../inference/realtime/error-event.ts';
import type { SocketContext } from '../routes/handler.ts';
import { asGatewayError, type ErrorDeps } from './error-envelope.ts';
import { type GuardDeps, guard, guardClass, guardHost, guardOrigin } from './guards.ts';
import type { FailedRequest } from './record-refusal.ts';
import { upgradeOf } from './upgrade-guard.ts';

/** Maximum number of open sockets, including refused ones that have not closed yet. */
const MAX_SOCKETS = 256;
/** Of those, reserved for admins, so that clients cannot lock out the owner. */
const RESERVED_FOR_ADMINS = 32;

/**
 * Close codes of a realtime socket (docs/spec/contract.md#websocket-refusals): 4403 for Origin, 4401 for the
 * tier, and related codes. Other routes are refused before the handshake (`upgrade-guard.ts`).
 */
const CLOSE_CODES: Partial<Record<ErrorCode, number>> = {
  'auth.origin_forbidden': 4403,
  'auth.host_forbidden': 4403,
  'auth.required': 4401,
  'auth.forbidden': 4401,
  'realtime.too_many': 1013,
  'dispatch.no_route': 4404,
  'dispatch.capability_mismatch': 4409,
};
/** The close code of every other failure. */
const INTERNAL_ERROR = 1011;

const tooMany = (): GatewayError => new GatewayError('realtime.too_many');

const GOING_AWAY = [1001, 'going away'] as const;

interface OpenSocket {
  socket: WebSocket;
  call: SocketContext['state'];
}

/** The guards of a socket, after its handshake, and the set of open sockets. */
export class Sockets {
  readonly #deps: GuardDeps & ErrorDeps;
  readonly #open = new Set<OpenSocket>();
  #closing = false;

  constructor(deps: GuardDeps & ErrorDeps) {
    this.#deps = deps;
  }

  /**
   * The first middleware of sockets: sets `ctx.state` and runs the handler, or closes the socket with the error of
   * either. Nothing is read from the socket before.
   */
  readonly middleware = async (ctx: SocketContext, next: () => Promise<unknown>): Promise<void> => {
    const socket = ctx.websocket;
    const { id, receivedAt, target, auth, route } = upgradeOf(ctx.req);
    socket.pause();
    try {
      if (this.#open.size >= MAX_SOCKETS) throw tooMany();
      if (!target || !auth || !route) throw new GatewayError('route.not_found');
      const call = await guard(this.#deps, { target, auth }, { route, allow: [] }, { id, receivedAt });
      const reserved = call.caller.tier === 'admin' ? 0 : RESERVED_FOR_ADMINS;
      if (this.#closing) return this.#shut(socket, ...GOING_AWAY);
      if (this.#open.size >= MAX_SOCKETS - reserved) throw tooMany();
      ctx.state = call;
      this.#track(socket, call);
      await next();
    } catch (error) {
      this.#refuse(socket, error, id, { req: ctx.req, id, receivedAt });
    } finally {
      socket.resume();
    }
  };

  /** Checks every open socket again, after rotation, logout and a change of enforcement. */
  recheck(): void {
    for (const { socket, call } of this.#open) {
      try {
        guardHost(this.#deps, call.auth);
        guardOrigin(this.#deps, call.auth);
        const match = { route: call.route, allow: [] };
        guardClass(this.#deps, match, this.#deps.auth.caller(call.auth), call.auth);
      } catch (error) {
        this.#refuse(socket, error, call.id, null);
      }
    }
  }

  /** Closes every socket, and from now on each one that completes its handshake. */
  closeAll(): void {
    this.#closing = true;
    for (const { socket } of this.#open) this.#shut(socket, ...GOING_AWAY);
  }

  #track(socket: WebSocket, call: SocketContext['state']): void {
    const entry = { socket, call };
    this.#open.add(entry);
    socket.on('close', () => this.#open.delete(entry));
  }

  /** `request` is null for a socket that had access before. */
  #refuse(socket: WebSocket, error: unknown, id: string, request: FailedRequest | null): void {
    const failure = asGatewayError(error, this.#deps.log, id);
    this.#deps.refused(failure, request);
    socket.send(errorEvent(failure, this.#deps.secrets()), () => {});
    this.#shut(socket, CLOSE_CODES[failure.code] ?? INTERNAL_ERROR, failure.code);
  }

  /** Closes a socket, and terminates it if the peer does not answer the close frame. */
  #shut(socket: WebSocket, code: number, reason: string): void {
    socket.close(code, reason);
    const timer = setTimeout(() => socket.terminate(), 1500);
    socket.once('close', () => clearTimeout(timer));
  }
}
