import { createHash } from 'node:crypto';

/** A tool as its caller knows it: a namespace is what Codex makes of each MCP server. */
export interface KnownTool {
  /** `search` finds further tools, which the caller does. */
  readonly kind: 'function' | 'custom' | 'search';
  readonly name: string;
  readonly namespace: string | null;
}

/** Longest name of a function that OpenAI takes; one that is longer ends in eight digits of its sum. */
const LONGEST = 64;
const SUM = 8;
/** Where Codex puts the tools that have no namespace of their own; its words to the model name them without one. */
const BARE: ReadonlySet<string | null> = new Set([null, '', 'functions']);

/**
 * The name of a tool in a chat, which has no namespaces: the same in each request, so that calls of earlier turns fit. Two
 * tools may get the same one.
 */
export function chatName({ namespace, name }: Pick<KnownTool, 'namespace' | 'name'>): string {
  if (BARE.has(namespace)) return name;
  const whole = namespace?.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (whole.length <= LONGEST) return whole;
  const sum = createHash('sha256').update(whole).digest('hex').slice(0, SUM);
  return `${whole.slice(0, LONGEST - SUM - 1)}_${sum}`;
}
