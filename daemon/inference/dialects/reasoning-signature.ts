import type { ThoughtField } from './piece.ts';

/** Who said thoughts, and in which field of a chat. */
export interface ThoughtOrigin {
  readonly upstream: string;
  readonly field: ThoughtField;
}

const SIGNATURE = /^svc:(reasoning|reasoning_content):([a-z0-9][a-z0-9_-]{0,31})$/;

/**
 * The origin of thoughts as the text that clients give back with them, where Anthropic and OpenAI have a signature. Empty for a
 * slot, and for thoughts that nobody takes back.
 */
export const reasoningSignature = (upstream: string | null, field: ThoughtField | undefined): string =>
  upstream === null || field === undefined ? '' : `svc:${field}:${upstream}`;

/** Reads such a text. It is only a hint, because a client may write what it likes; any other text is none. */
export function parseSignature(mark: unknown): ThoughtOrigin | undefined {
  const [, field, upstream] = (typeof mark === 'string' && SIGNATURE.exec(mark)) || [];
  return upstream === undefined ? undefined : { upstream, field: field as ThoughtField };
}

const ORIGINS = new WeakMap<object, ThoughtOrigin>();

/** Notes where the thoughts of a chat message come from; a mark that says nothing changes nothing. */
export function recordOrigin(message: object, mark: unknown): void {
  const origin = parseSignature(mark);
  if (origin !== undefined) ORIGINS.set(message, origin);
}

/** Where the thoughts of a chat message come from; undefined when nobody knows. */
export const thoughtOriginOf = (message: object): ThoughtOrigin | undefined => ORIGINS.get(message);
