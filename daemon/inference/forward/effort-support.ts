import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, parsed } from '../dialects/json.ts';
import type { EngineFailure } from './engine-error.ts';

/** How an effort is told to a model that refuses the one that was asked for. */
export type EffortFallback = 'none' | 'left out';

/** An effort that is asked of a model of a provider. */
export interface EffortRequest {
  readonly upstream: string;
  readonly model: string;
  readonly effort: string;
  /** Some models refuse an effort only beside tools. */
  readonly tools: boolean;
}

/** The provider refused the effort; the same chat is sent once more, with what was learnt from that. */
export class EffortRefused extends GatewayError {
  readonly fallback: EffortFallback;

  constructor(status: number, told: EffortFallback) {
    super('upstream.error', { status, details: { upstream_status: status } });
    this.fallback = told;
  }
}

const MAX_ENTRIES = 1_024;
const MAX_EFFORT_LENGTH = 32;
const FIELD = 'reasoning_effort';
/** OpenAI's advice: "or set reasoning_effort to 'none'". */
const NONE = /reasoning_effort\W{1,3}to\W{1,3}none\b/;

/** What providers have shown of the efforts that their models take. The oldest are forgotten first. */
export class EffortSupport {
  readonly #fallbacks = new Map<string, EffortFallback>();

  /** How this one is told; undefined: as it was asked for. */
  fallbackFor(ask: EffortRequest): EffortFallback | undefined {
    return this.#fallbacks.size === 0 ? undefined : this.#fallbacks.get(keyOf(ask));
  }

  /**
   * The failure of a chat whose effort was told like this: how it is told in another try, when that was refused; else
   * undefined. What is refused in another try too is forgotten, because the effort was not what was wrong.
   */
  learnFromFailure(ask: EffortRequest, told: EffortFallback | undefined, { status, bytes }: EngineFailure) {
    if (status !== 400 && status !== 422) return undefined;
    const said = errorTextOf(bytes);
    if (!said.includes(FIELD)) return undefined;
    if (told === undefined)
      return this.#remember(ask, NONE.test(said) && ask.effort !== 'none' ? 'none' : 'left out');
    this.#fallbacks.delete(keyOf(ask));
    return undefined;
  }

  #remember(ask: EffortRequest, told: EffortFallback): EffortFallback {
    this.#fallbacks.set(keyOf(ask), told);
    const [oldest] = this.#fallbacks.keys();
    if (this.#fallbacks.size > MAX_ENTRIES && oldest !== undefined) this.#fallbacks.delete(oldest);
    return told;
  }
}

const keyOf = ({ upstream, model, effort, tools }: EffortRequest): string =>
  JSON.stringify([upstream, model, effort.slice(0, MAX_EFFORT_LENGTH), tools]);

/** What an error says and which field it names, but nothing that it repeats of the request. */
function errorTextOf(bytes: Buffer): string {
  const body = asObject(parsed(bytes.toString('utf8'))) ?? {};
  const error = asObject(body.error) ?? {};
  const [detail] = asList(body.detail).map(asObject);
  const texts = [error.message, error.param, body.error, body.message, body.detail, detail?.msg];
  return [...texts, ...asList(detail?.loc)].filter((text) => typeof text === 'string').join('\n');
}
