import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BodyIndex } from '../rewrite/body-index.ts';
import type { PrefixAffinity } from './balance.ts';

/** The beginning of a conversation: its messages before the first answer of the model. */
export interface ConversationPrefix {
  /** Identifies the beginning, without its text. */
  readonly digest: string;
  /** Whether the request contains an earlier answer, so that some server may have the beginning in its cache. */
  readonly isContinued: boolean;
}

/** Bytes at each end of the beginning that are part of the digest. System prompts of agents have the same start. */
const MAX_END_BYTES = 4_096;
const DIGEST_LENGTH = 16;

/** Returns the beginning of a chat; null for one that starts with an answer or has no messages. */
export function conversationPrefix({ bytes, messages }: BodyIndex, model: string): ConversationPrefix | null {
  const answer = messages.findIndex(({ role }) => role === 'assistant');
  const first = messages[0];
  const last = messages.at(answer === -1 ? -1 : answer - 1);
  if (first === undefined || last === undefined || answer === 0) return null;
  const [start, end] = [first.value.start, last.value.end];
  const tail = Math.max(start + MAX_END_BYTES, end - MAX_END_BYTES);
  const hash = createHash('sha1').update(`${model}\n${end - start}\n`);
  hash.update(bytes.subarray(start, Math.min(end, start + MAX_END_BYTES)));
  if (tail < end) hash.update(bytes.subarray(tail, end));
  return { digest: hash.digest('base64url').slice(0, DIGEST_LENGTH), isContinued: answer !== -1 };
}

/** Maximum number of conversations in memory. */
export const MAX_CONVERSATIONS = 4_096;

/** Where the beginnings of recent conversations were served last. Bounded; drops the least recently used first. */
export class PrefixMemory {
  readonly #owners = new LRUCache<string, string>({ max: MAX_CONVERSATIONS });

  /** Records that an upstream serves a conversation. */
  record(prefix: ConversationPrefix | null, upstream: string): void {
    if (prefix !== null) this.#owners.set(prefix.digest, upstream);
  }

  /** Returns the upstream that served a conversation last; null for one that begins or is unknown. */
  ownerOf(prefix: ConversationPrefix | null): string | null {
    return prefix?.isContinued ? (this.#owners.get(prefix.digest) ?? null) : null;
  }
}

/** The affinity of one request. Makes the digest only when it is needed. */
export class ConversationAffinity implements PrefixAffinity {
  readonly #memory: PrefixMemory;
  readonly #prefixFor: (model: string) => ConversationPrefix | null;
  readonly #maxExtra: () => number;

  constructor(
    memory: PrefixMemory,
    prefixFor: (model: string) => ConversationPrefix | null,
    maxExtra: () => number,
  ) {
    this.#memory = memory;
    this.#prefixFor = prefixFor;
    this.#maxExtra = maxExtra;
  }

  get maxExtra(): number {
    return this.#maxExtra();
  }

  owner(model: string): string | null {
    return this.#memory.ownerOf(this.#prefixFor(model));
  }
}
