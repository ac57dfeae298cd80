import { LRUCache } from 'lru-cache';
import { type EngineFailure, errorTextOf } from './engine-error.ts';

/** How to send an effort to a model that refused the requested one. */
export type EffortFallback = 'none' | 'left out';

/** A reasoning effort that is requested from a model of a provider. */
export interface EffortRequest {
  readonly upstream: string;
  readonly model: string;
  readonly effort: string;
  /** Some models refuse an effort only together with tools. */
  readonly tools: boolean;
}

const MAX_ENTRIES = 1_024;
const MAX_EFFORT_LENGTH = 32;
const FIELD = 'reasoning_effort';
/** OpenAI's advice: "or set reasoning_effort to 'none'". */
const NONE = /reasoning_effort\W{1,3}to\W{1,3}none\b/;

/** Learned support of efforts by model and provider. Bounded; drops the least recently used first. */
export class EffortSupport {
  readonly #fallbacks = new LRUCache<string, EffortFallback>({ max: MAX_ENTRIES });

  /** Returns the learned fallback; undefined to send the effort as requested. */
  fallbackFor(request: EffortRequest): EffortFallback | undefined {
    return this.#fallbacks.size === 0 ? undefined : this.#fallbacks.get(keyOf(request));
  }

  /**
   * Returns the fallback for another try when the failure of a chat means that its effort was refused, else
   * undefined. A refusal of the fallback itself removes the entry, because the effort was not the cause.
   */
  recordFailure(
    request: EffortRequest,
    fallback: EffortFallback | undefined,
    { status, bytes }: EngineFailure,
  ) {
    if (status !== 400 && status !== 422) return undefined;
    const text = errorTextOf(bytes);
    if (!text.includes(FIELD)) return undefined;
    if (fallback === undefined)
      return this.#record(request, NONE.test(text) && request.effort !== 'none' ? 'none' : 'left out');
    this.#fallbacks.delete(keyOf(request));
    return undefined;
  }

  #record(request: EffortRequest, fallback: EffortFallback): EffortFallback {
    this.#fallbacks.set(keyOf(request), fallback);
    return fallback;
  }
}

const keyOf = ({ upstream, model, effort, tools }: EffortRequest): string =>
  JSON.stringify([upstream, model, effort.slice(0, MAX_EFFORT_LENGTH), tools]);
