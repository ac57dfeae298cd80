import type { Tier } from '../../contract/auth.ts';
import { asList, asObject, type Json } from '../dialects/json.ts';

/** What the caller has not seen of an answer that made calls of its own tools. */
interface HiddenRound {
  readonly tier: Tier;
  /** All that stood between the caller's last message and its tool results. */
  readonly hidden: readonly Json[];
  readonly size: number;
}

const MAX_ENTRIES = 256;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Rounds of the loop that a caller does not see, kept until it comes back with the results of its own tools: the model
 * then knows what it had found out before. The oldest are forgotten first; then the conversation is as the caller sends it.
 */
export class HiddenRounds {
  readonly #rounds = new Map<string, HiddenRound>();
  #size = 0;

  /** `key`: the ids of the caller's calls, made by the gateway and known to nobody else. */
  store(ids: readonly string[], tier: Tier, hidden: readonly Json[]): void {
    const size = JSON.stringify(hidden).length;
    if (size > MAX_CHARACTERS) return;
    this.#rounds.set(keyOf(ids), { tier, hidden, size });
    this.#size += size;
    for (const [key, { size: old }] of this.#rounds) {
      if (this.#rounds.size <= MAX_ENTRIES && this.#size <= MAX_CHARACTERS) return;
      this.#rounds.delete(key);
      this.#size -= old;
    }
  }

  /** Puts what was kept back in the place of each message that stands for it. */
  restore(messages: readonly Json[], tier: Tier): Json[] {
    return messages.flatMap((message) => {
      const ids = asList(message.tool_calls).map((call) => String(asObject(call)?.id ?? ''));
      const kept = ids.length === 0 ? undefined : this.#rounds.get(keyOf(ids));
      return kept?.tier === tier ? [...kept.hidden] : [message];
    });
  }
}

const keyOf = (ids: readonly string[]): string => ids.join(' ');
