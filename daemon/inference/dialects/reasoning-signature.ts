import type { ThoughtField } from './piece.ts';

/** The server that produced reasoning: an upstream, or a slot with `@` before its name. */
export interface ThoughtOrigin {
  readonly server: string;
  /** Its field in a chat. */
  readonly field: ThoughtField;
}

/** Where a request is answered: by an upstream or by a slot. */
export interface Server {
  readonly upstream?: string | null | undefined;
  readonly slot?: string | null | undefined;
}

const MARK = /^svc:(reasoning|reasoning_content):(?:(@?[a-z0-9][a-z0-9_-]{0,31})|(?=:))(?::([\s\S]*))?$/;

/** Returns the name of a server in a mark; null when it is unknown. */
export const serverName = ({ upstream, slot }: Server): string | null =>
  upstream ?? (slot ? `@${slot}` : null);

/**
 * Encodes the origin of reasoning as the signature that clients send back. Empty for the usual field of a slot, and
 * for reasoning that no server accepts back.
 */
export function reasoningSignature(server: Server, field: ThoughtField | undefined): string {
  const name = serverName(server);
  const isUsual = !server.upstream && field === 'reasoning_content';
  return name === null || field === undefined || isUsual ? '' : `svc:${field}:${name}`;
}

/** Encodes the origin and the text, for clients that send nothing else back. */
export const reasoningMark = (server: Server, field: ThoughtField | undefined, text: string): string =>
  `svc:${field ?? 'reasoning_content'}:${field === undefined ? '' : (serverName(server) ?? '')}:${text}`;

/**
 * Parses a signature or mark; undefined for any other text. It is only a hint, because a client may send anything.
 */
export function parseSignature(mark: unknown): (ThoughtOrigin & { readonly text: string }) | undefined {
  const found = typeof mark === 'string' ? MARK.exec(mark) : null;
  if (found === null) return undefined;
  const [, field, server = '', text = ''] = found;
  return { server, field: field as ThoughtField, text };
}

const ORIGINS = new WeakMap<object, ThoughtOrigin>();

/** Records the origin of a message's reasoning. Ignores an invalid signature. */
export function recordOrigin(message: object, mark: unknown): void {
  const origin = parseSignature(mark);
  if (origin !== undefined) ORIGINS.set(message, origin);
}

/** Returns the origin of a message's reasoning; undefined when unknown. */
export const thoughtOriginOf = (message: object): ThoughtOrigin | undefined => ORIGINS.get(message);
