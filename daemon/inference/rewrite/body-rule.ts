import type { EffortFallback } from '../forward/effort-support.ts';
import type { BodyIndex } from './body-index.ts';
import type { ChatHistory } from './chat-history.ts';
import type { Edit } from './edits.ts';

/** What a target reads besides text; `unknown` when the gateway cannot tell. */
export type MediaSupport = 'text' | 'images' | 'unknown';

/** The input of the body rules once the target is known. */
export interface BodyContext {
  readonly index: BodyIndex;
  /** True for a slot or a similar engine; false for a third-party provider. */
  readonly local: boolean;
  /** Origin of the target server; undefined where it does not matter. */
  readonly origin?: string;
  /** The target upstream; null or undefined for a slot. */
  readonly upstream?: string | null;
  /** The target slot; null or undefined for an upstream. */
  readonly slot?: string | null;
  /** The target counts the tokens of a stream only when that is requested. */
  readonly streamUsage?: boolean | undefined;
  /** How to send the reasoning effort; undefined sends it as requested. */
  readonly effortFallback?: EffortFallback;
  /** Earlier turns of a chat that was translated from another API. */
  readonly history?: ChatHistory;
  /** Returns what the target reads besides text. Absent: unknown. */
  media?(): MediaSupport;
  /** The target takes system messages at any position. */
  readonly takesLaterSystem?: boolean;
  /** The target continues an answer that the caller began only when that is requested. */
  readonly continuesOnRequest?: boolean;
  /** Receives the names of what a rule replaces or leaves out. */
  ignore?(name: string): void;
  /** The edits that fill in empty arguments of earlier calls. */
  readonly callEdits?: readonly Edit[];
  /**
   * Thinking when the caller sets none: the slot's choice, else the registry's; null leaves it to the engine.
   */
  thinkingDefault(): boolean | null;
}

/** One deviation that changes the body: a pure function from the body index to edits. */
export type BodyRule = (context: BodyContext) => readonly Edit[];
