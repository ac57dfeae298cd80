import { createHash } from 'node:crypto';

/** A tool as its caller knows it: a namespace is what Codex makes of each MCP server. */
export interface KnownTool {
  /** `search` finds further tools, which the caller does. */
  readonly kind: 'function' | 'custom' | 'search';
  readonly name: string;
  readonly namespace: string | null;
}

/** Longest name of a function that OpenAI takes; one that is longer ends in eight digits of its sum. */
const MAX_NAME_LENGTH = 64;
const HASH_DIGITS = 8;
/** Where Codex puts the tools that have no namespace of their own; its words to the model name them without one. */
const BARE: ReadonlySet<string | null> = new Set([null, '', 'functions']);

/**
 * The name of a tool in a chat, which has no namespaces: the same in each request, so that calls of earlier turns fit. Two
 * tools may get the same one.
 */
export function chatName({ namespace, name }: Pick<KnownTool, 'namespace' | 'name'>): string {
  if (BARE.has(namespace)) return name;
  const whole = namespace?.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (whole.length <= MAX_NAME_LENGTH) return whole;
  const sum = createHash('sha256').update(whole).digest('hex').slice(0, HASH_DIGITS);
  return `${whole.slice(0, MAX_NAME_LENGTH - HASH_DIGITS - 1)}_${sum}`;
}
