import type { CallerInfo } from '../contract/caller-info.ts';
import type { ConversationState } from '../contract/conversation-state.ts';
import type { ExplainStepView, RequestTraceView } from '../contract/system.ts';
import { truncate } from '../lib/text/truncate.ts';

/** The texts of a failure that the caller received. */
export interface FailureText {
  readonly message: string | null;
  /** The reason in its details. */
  readonly reason: string | null;
}

/** How a model name was resolved. `steps` renders the text on demand. */
export interface ResolutionInfo {
  readonly rule: string | null;
  readonly lane: string | null;
  steps(): ExplainStepView[];
}

/** A request that is sent to its target; times in milliseconds. */
export interface SentInfo {
  readonly waits: RequestTraceView['waits'];
  readonly overheadMs: number;
  readonly degraded: string | null;
}

type AbandonedTarget = RequestTraceView['before'][number];
type Target = Pick<AbandonedTarget, 'slot' | 'upstream'>;

/** Maximum number of targets that are kept per request; a request has no more by its own limits. */
const MAX_TARGETS = 16;
/** Maximum characters of a name. */
const MAX_NAME_LENGTH = 1024;
const MAX_CODE_LENGTH = 64;
/** Maximum characters of one text of a story. */
const MAX_TEXT_LENGTH = 256;

/** Maximum characters of an error message. */
const MAX_MESSAGE_LENGTH = 512;

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
const cut = (text: string): string => text.slice(0, MAX_TEXT_LENGTH);

/** Returns the start of a name as a separate string: a slice would keep a name of megabytes alive. */
const nameStart = (name: string): string =>
  name.length <= MAX_NAME_LENGTH ? name : Buffer.from(truncate(name, MAX_NAME_LENGTH)).toString('utf8');

/** The trace of one request while it runs. Holds references to existing objects; `story` renders them. */
export class RequestTrace {
  #requestedModel: string | null = null;
  resolved: ResolutionInfo | null = null;
  sent: SentInfo | null = null;
  conversation: ConversationState | null = null;
  #target: Target | null = null;
  #abandoned: AbandonedTarget[] | null = null;
  #error: string | null = null;
  readonly #redact: (text: string) => string;

  /** `hide` removes secrets: a caller may write a key instead of a name. */
  constructor(redact: (text: string) => string = (text) => text) {
    this.#redact = redact;
  }

  get requestedModel(): string | null {
    return this.#requestedModel;
  }

  /** Records the model that the caller named; null when none. */
  setRequestedModel(model: string | null): void {
    this.#requestedModel = model === null ? null : this.#redact(nameStart(model));
  }

  /** Returns the code of a failure as it is stored: an engine may send any text as its code. */
  code(error: string | null): string | null {
    return error === null ? null : this.#redact(error).slice(0, MAX_CODE_LENGTH);
  }

  /** Returns the texts of a failure as they are stored. */
  failure({ message, reason }: FailureText): FailureText {
    return { message: this.#stored(message), reason: this.#stored(reason) };
  }

  /** Returns what a caller says about itself without secrets. */
  caller({ app, user_agent: agent, address }: CallerInfo): CallerInfo {
    return {
      app: app === null ? null : this.#redact(app),
      user_agent: agent === null ? null : this.#redact(agent),
      address,
    };
  }

  #stored(text: string | null): string | null {
    return text === null ? null : truncate(this.#redact(text), MAX_MESSAGE_LENGTH);
  }

  /** Records the target; an earlier target did not serve the request. */
  setTarget({ slot, upstream }: Target): void {
    const before = this.#target;
    const again = before?.slot === slot && before?.upstream === upstream && this.#error === null;
    if (before !== null && !again) this.#abandon(before);
    this.#target = { slot, upstream };
  }

  /** Records that the target did not serve the request and another one is tried. */
  failedOver(error: string): void {
    this.#error = error;
  }

  story(): RequestTraceView {
    const { resolved, sent } = this;
    return {
      rule: resolved?.rule ?? null,
      lane: resolved?.lane ?? null,
      steps: (resolved?.steps() ?? []).map((step) => ({ ...step, reason: cut(this.#redact(step.reason)) })),
      before: [...(this.#abandoned ?? [])],
      waits: sent?.waits ?? null,
      overhead_ms: sent === null ? null : tenths(sent.overheadMs),
      degraded: sent === null || sent.degraded === null ? null : cut(sent.degraded),
      conversation: this.conversation,
    };
  }

  #abandon(target: Target): void {
    this.#abandoned ??= [];
    if (this.#abandoned.length < MAX_TARGETS) this.#abandoned.push({ ...target, error: this.#error });
    this.#error = null;
  }
}
