import { createHash } from 'node:crypto';

/** A tool as its caller knows it. Codex creates a namespace for each MCP server. */
export interface KnownTool {
  /**
   * `search` finds further tools; the caller runs it. Calls of the last three have their own items, see
   * `client-tools.ts`.
   */
  readonly kind: 'function' | 'custom' | 'search' | 'local_shell' | 'shell' | 'apply_patch';
  readonly name: string;
  readonly namespace: string | null;
}

/** Maximum length of a function name at OpenAI. A longer one ends in eight digits of its hash. */
const MAX_NAME_LENGTH = 64;
const HASH_DIGITS = 8;
/** Namespaces of Codex for tools without one; its prompts use their bare names. */
const BARE: ReadonlySet<string | null> = new Set([null, '', 'functions']);

/**
 * Returns the name of a tool in a chat, which has no namespaces. It is the same in each request, so that
 * earlier calls match. Two tools may get the same name.
 */
export function chatName({ namespace, name }: Pick<KnownTool, 'namespace' | 'name'>): string {
  if (BARE.has(namespace)) return name;
  const whole = namespace?.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (whole.length <= MAX_NAME_LENGTH) return whole;
  const sum = createHash('sha256').update(whole).digest('hex').slice(0, HASH_DIGITS);
  return `${whole.slice(0, MAX_NAME_LENGTH - HASH_DIGITS - 1)}_${sum}`;
}
