import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../contract/errors.ts';
import type { EffortFallback } from './effort-support.ts';
import { type EngineFailure, errorTextOf } from './engine-error.ts';

/** What the next try of a request does in another way. */
interface RequestChange {
  readonly effortFallback?: EffortFallback;
}

/** A target refused an option of a request. The same request is sent to it once more, with `change`. */
export class RefusedOption extends GatewayError {
  readonly change: RequestChange;

  constructor(status: number, change: RequestChange = {}) {
    super('upstream.error', { status, details: { upstream_status: status } });
    this.change = change;
  }
}

/** Options without which the gateway gets the same answer, with the words of a server that refuses them. */
const REFUSALS = {
  /** The gateway converts vectors itself (docs/spec/contract.md#embeddings). */
  encoding_format: /encoding_?format|base64/i,
  /** The caller does not request the token counts (docs/spec/contract.md#stream-usage). */
  stream_options: /stream_?options|include_usage/i,
} as const;
export type RefusableOption = keyof typeof REFUSALS;

const MAX_ENTRIES = 1_024;
const TTL_MS = 6 * 60 * 60_000;

/** Returns whether the text of an error refuses an option: 400 or 422 that names it. */
export const refusesOption = (option: RefusableOption, { status, bytes }: EngineFailure): boolean =>
  (status === 400 || status === 422) && REFUSALS[option].test(errorTextOf(bytes));

/** Remembers which options a model of a server refuses, so that the next request omits them. Bounded. */
export class OptionSupport {
  readonly #refused = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: TTL_MS });

  isRefused(option: RefusableOption, origin: string, model: string | null): boolean {
    return this.#refused.size > 0 && this.#refused.has(keyOf(option, origin, model));
  }

  /** Returns whether the failure refuses an option that was sent, which is not sent again. */
  recordFailure(
    option: RefusableOption,
    origin: string,
    model: string | null,
    failure: EngineFailure,
  ): boolean {
    const refused = refusesOption(option, failure);
    if (refused) this.#refused.set(keyOf(option, origin, model), true);
    return refused;
  }
}

const keyOf = (option: RefusableOption, origin: string, model: string | null): string =>
  `${option} ${origin} ${model ?? ''}`;
