import { LRUCache } from 'lru-cache';
import type { Tier } from '../../contract/auth.ts';
import { asList, asObject, type Json } from '../dialects/json.ts';

/** The hidden rounds of a response that called the caller's own tools. */
interface HiddenRound {
  readonly tier: Tier;
  /** All messages between the caller's last message and its tool results. */
  readonly hidden: readonly Json[];
}

const MAX_ENTRIES = 256;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Stores loop rounds that a caller does not see until it returns the results of its own tools, so that the
 * model knows its earlier results. Drops the least recently used first; the conversation then continues without them.
 */
export class HiddenRounds {
  readonly #rounds = new LRUCache<string, HiddenRound>({
    max: MAX_ENTRIES,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ hidden }) => JSON.stringify(hidden).length,
  });

  /** The ids of the caller's calls form the key; only the gateway creates them. */
  store(ids: readonly string[], tier: Tier, hidden: readonly Json[]): void {
    this.#rounds.set(keyOf(ids), { tier, hidden });
  }

  /** Replaces each message with the hidden rounds that it stands for. */
  restore(messages: readonly Json[], tier: Tier): Json[] {
    return messages.flatMap((message) => {
      const ids = asList(message.tool_calls).map((call) => String(asObject(call)?.id ?? ''));
      const round = ids.length === 0 ? undefined : this.#rounds.get(keyOf(ids));
      return round?.tier === tier ? [...round.hidden] : [message];
    });
  }
}

const keyOf = (ids: readonly string[]): string => ids.join(' ');
