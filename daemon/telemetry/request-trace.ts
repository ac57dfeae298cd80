import type { ExplainStepView, RequestStoryView } from '../contract/system.ts';
import { truncate } from '../lib/text/truncate.ts';

/** How a name was resolved. `steps` puts it into words, and only when somebody wants to read them. */
export interface ResolutionInfo {
  readonly rule: string | null;
  readonly lane: string | null;
  steps(): ExplainStepView[];
}

/** A request on its way to whoever serves it; times in milliseconds. */
export interface SentInfo {
  readonly waits: RequestStoryView['waits'];
  readonly overheadMs: number;
  readonly degraded: string | null;
}

type AbandonedTarget = RequestStoryView['before'][number];
type Target = Pick<AbandonedTarget, 'slot' | 'upstream'>;

/** Targets of one request that are kept; a request has no more by its own bounds. */
const MAX_TARGETS = 16;
/** Characters of a name that are kept. */
const MAX_NAME_LENGTH = 1024;
const MAX_CODE_LENGTH = 64;
/** Characters of one text of a story. */
const MAX_TEXT_LENGTH = 256;

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
const cut = (text: string): string => text.slice(0, MAX_TEXT_LENGTH);

/** The beginning of a name, as a text of its own: a slice would hold all of one that is megabytes long. */
const nameStart = (name: string): string =>
  name.length <= MAX_NAME_LENGTH ? name : Buffer.from(truncate(name, MAX_NAME_LENGTH)).toString('utf8');

/** What is noted of one request while it runs: references to what its walk made anyway, put together by `story`. */
export class RequestTrace {
  #requestedModel: string | null = null;
  resolved: ResolutionInfo | null = null;
  sent: SentInfo | null = null;
  #target: Target | null = null;
  #abandoned: AbandonedTarget[] | null = null;
  #error: string | null = null;
  readonly #redact: (text: string) => string;

  /** `hide` takes out what must not be kept: a caller may write a key where a name belongs. */
  constructor(redact: (text: string) => string = (text) => text) {
    this.#redact = redact;
  }

  get requestedModel(): string | null {
    return this.#requestedModel;
  }

  /** The caller names a model, or none. */
  setRequestedModel(model: string | null): void {
    this.#requestedModel = model === null ? null : this.#redact(nameStart(model));
  }

  /** The code of a failure as it is kept: an engine may write anything where a code belongs. */
  code(error: string | null): string | null {
    return error === null ? null : this.#redact(error).slice(0, MAX_CODE_LENGTH);
  }

  /** It goes to this target; another one before it did not serve it. */
  setTarget({ slot, upstream }: Target): void {
    const before = this.#target;
    const again = before?.slot === slot && before?.upstream === upstream && this.#error === null;
    if (before !== null && !again) this.#abandon(before);
    this.#target = { slot, upstream };
  }

  /** The target did not serve it, and another one is tried. */
  failedOver(error: string): void {
    this.#error = error;
  }

  story(): RequestStoryView {
    const { resolved, sent } = this;
    return {
      rule: resolved?.rule ?? null,
      lane: resolved?.lane ?? null,
      steps: (resolved?.steps() ?? []).map((step) => ({ ...step, reason: cut(this.#redact(step.reason)) })),
      before: [...(this.#abandoned ?? [])],
      waits: sent?.waits ?? null,
      overhead_ms: sent === null ? null : tenths(sent.overheadMs),
      degraded: sent === null || sent.degraded === null ? null : cut(sent.degraded),
    };
  }

  #abandon(target: Target): void {
    this.#abandoned ??= [];
    if (this.#abandoned.length < MAX_TARGETS) this.#abandoned.push({ ...target, error: this.#error });
    this.#error = null;
  }
}
