import type { ExplainStepView, RequestStoryView } from '../contract/system.ts';
import { truncate } from '../lib/text/truncate.ts';

/** How a name was resolved. `steps` puts it into words, and only when somebody wants to read them. */
export interface Resolved {
  readonly rule: string | null;
  readonly lane: string | null;
  steps(): ExplainStepView[];
}

/** A request on its way to whoever serves it; times in milliseconds. */
export interface SentOff {
  readonly waits: RequestStoryView['waits'];
  readonly overheadMs: number;
  readonly degraded: string | null;
}

type Left = RequestStoryView['before'][number];
type Target = Pick<Left, 'slot' | 'upstream'>;

/** Targets of one request that are kept; a request has no more by its own bounds. */
const MOST_LEFT = 16;
/** Characters of a name that are kept. */
const LONGEST_NAME = 1024;
const LONGEST_CODE = 64;
/** Characters of one text of a story. */
const LONGEST = 256;

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
const cut = (text: string): string => text.slice(0, LONGEST);

/** The beginning of a name, as a text of its own: a slice would hold all of one that is megabytes long. */
const beginning = (name: string): string =>
  name.length <= LONGEST_NAME ? name : Buffer.from(truncate(name, LONGEST_NAME)).toString('utf8');

/** What is noted of one request while it runs: references to what its walk made anyway, put together by `story`. */
export class RequestNotes {
  #asked: string | null = null;
  resolved: Resolved | null = null;
  sent: SentOff | null = null;
  #target: Target | null = null;
  #left: Left[] | null = null;
  #error: string | null = null;
  readonly #hide: (text: string) => string;

  /** `hide` takes out what must not be kept: a caller may write a key where a name belongs. */
  constructor(hide: (text: string) => string = (text) => text) {
    this.#hide = hide;
  }

  get asked(): string | null {
    return this.#asked;
  }

  /** The caller names a model, or none. */
  asks(model: string | null): void {
    this.#asked = model === null ? null : this.#hide(beginning(model));
  }

  /** The code of a failure as it is kept: an engine may write anything where a code belongs. */
  code(error: string | null): string | null {
    return error === null ? null : this.#hide(error).slice(0, LONGEST_CODE);
  }

  /** It goes to this target; another one before it did not serve it. */
  goesTo({ slot, upstream }: Target): void {
    const before = this.#target;
    const again = before?.slot === slot && before?.upstream === upstream && this.#error === null;
    if (before !== null && !again) this.#leave(before);
    this.#target = { slot, upstream };
  }

  /** The target did not serve it, and another one is tried. */
  wentOn(error: string): void {
    this.#error = error;
  }

  story(): RequestStoryView {
    const { resolved, sent } = this;
    return {
      rule: resolved?.rule ?? null,
      lane: resolved?.lane ?? null,
      steps: (resolved?.steps() ?? []).map((step) => ({ ...step, reason: cut(this.#hide(step.reason)) })),
      before: [...(this.#left ?? [])],
      waits: sent?.waits ?? null,
      overhead_ms: sent === null ? null : tenths(sent.overheadMs),
      degraded: sent === null || sent.degraded === null ? null : cut(sent.degraded),
    };
  }

  #leave(target: Target): void {
    this.#left ??= [];
    if (this.#left.length < MOST_LEFT) this.#left.push({ ...target, error: this.#error });
    this.#error = null;
  }
}
