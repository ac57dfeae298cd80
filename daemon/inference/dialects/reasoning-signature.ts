import type { ThoughtField } from './piece.ts';

/** The upstream that produced the reasoning, and its field in a chat. */
export interface ThoughtOrigin {
  readonly upstream: string;
  readonly field: ThoughtField;
}

const SIGNATURE = /^svc:(reasoning|reasoning_content):([a-z0-9][a-z0-9_-]{0,31})$/;

/**
 * Encodes the origin of reasoning as the signature that clients send back. Empty for a slot, and for
 * reasoning that no upstream accepts back.
 */
export const reasoningSignature = (upstream: string | null, field: ThoughtField | undefined): string =>
  upstream === null || field === undefined ? '' : `svc:${field}:${upstream}`;

/**
 * Parses such a signature; undefined for any other text. It is only a hint, because a client may send
 * anything.
 */
export function parseSignature(mark: unknown): ThoughtOrigin | undefined {
  const [, field, upstream] = (typeof mark === 'string' && SIGNATURE.exec(mark)) || [];
  return upstream === undefined ? undefined : { upstream, field: field as ThoughtField };
}

const ORIGINS = new WeakMap<object, ThoughtOrigin>();

/** Records the origin of a message's reasoning. Ignores an invalid signature. */
export function recordOrigin(message: object, mark: unknown): void {
  const origin = parseSignature(mark);
  if (origin !== undefined) ORIGINS.set(message, origin);
}

/** Returns the origin of a message's reasoning; undefined when unknown. */
export const thoughtOriginOf = (message: object): ThoughtOrigin | undefined => ORIGINS.get(message);
