import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, parsed } from '../dialects/json.ts';
import type { EngineFailure } from './engine-error.ts';

/** How an effort is told to a model that refuses the one that was asked for. */
export type EffortTold = 'none' | 'left out';

/** An effort that is asked of a model of a provider. */
export interface EffortAsk {
  readonly upstream: string;
  readonly model: string;
  readonly effort: string;
  /** Some models refuse an effort only beside tools. */
  readonly tools: boolean;
}

/** The provider refused the effort; the same chat is sent once more, with what was learnt from that. */
export class EffortRefused extends GatewayError {
  readonly told: EffortTold;

  constructor(status: number, told: EffortTold) {
    super('upstream.error', { status, details: { upstream_status: status } });
    this.told = told;
  }
}

const MOST = 1_024;
const LONGEST_WORD = 32;
const FIELD = 'reasoning_effort';
/** OpenAI's advice: "or set reasoning_effort to 'none'". */
const NONE = /reasoning_effort\W{1,3}to\W{1,3}none\b/;

/** What providers have shown of the efforts that their models take. The oldest are forgotten first. */
export class Efforts {
  readonly #learnt = new Map<string, EffortTold>();

  /** How this one is told; undefined: as it was asked for. */
  told(ask: EffortAsk): EffortTold | undefined {
    return this.#learnt.size === 0 ? undefined : this.#learnt.get(keyOf(ask));
  }

  /**
   * The failure of a chat whose effort was told like this: how it is told in another try, when that was refused; else
   * undefined. What is refused in another try too is forgotten, because the effort was not what was wrong.
   */
  refused(ask: EffortAsk, told: EffortTold | undefined, { status, bytes }: EngineFailure) {
    if (status !== 400 && status !== 422) return undefined;
    const said = saidIn(bytes);
    if (!said.includes(FIELD)) return undefined;
    if (told === undefined)
      return this.#learn(ask, NONE.test(said) && ask.effort !== 'none' ? 'none' : 'left out');
    this.#learnt.delete(keyOf(ask));
    return undefined;
  }

  #learn(ask: EffortAsk, told: EffortTold): EffortTold {
    this.#learnt.set(keyOf(ask), told);
    const [oldest] = this.#learnt.keys();
    if (this.#learnt.size > MOST && oldest !== undefined) this.#learnt.delete(oldest);
    return told;
  }
}

const keyOf = ({ upstream, model, effort, tools }: EffortAsk): string =>
  JSON.stringify([upstream, model, effort.slice(0, LONGEST_WORD), tools]);

/** What an error says and which field it names, but nothing that it repeats of the request. */
function saidIn(bytes: Buffer): string {
  const body = asObject(parsed(bytes.toString('utf8'))) ?? {};
  const error = asObject(body.error) ?? {};
  const [detail] = asList(body.detail).map(asObject);
  const texts = [error.message, error.param, body.error, body.message, body.detail, detail?.msg];
  return [...texts, ...asList(detail?.loc)].filter((text) => typeof text === 'string').join('\n');
}
