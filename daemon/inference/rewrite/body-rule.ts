import type { EffortFallback } from '../forward/effort-support.ts';
import type { BodyIndex } from './body-index.ts';
import type { Edit } from './edits.ts';
import type { ChatHistory } from './restore-reasoning.ts';

/** What the body rules may look at once the target is known. */
export interface BodyContext {
  readonly index: BodyIndex;
  /** True for a slot of ours or an engine like it; false for a provider of somebody else. */
  readonly local: boolean;
  /** Of the server that it goes to; undefined where that does not matter. */
  readonly origin?: string;
  /** The upstream that it goes to; null or undefined for a slot of ours. */
  readonly upstream?: string | null;
  /** How the effort is told; undefined: as it was asked for. */
  readonly effortFallback?: EffortFallback;
  /** What was said before in a chat that was made from a request of another API. */
  readonly history?: ChatHistory;
  /** Thinking when the caller says nothing: the slot's choice, else the registry's; null = leave it to the engine. */
  thinkingDefault(): boolean | null;
}

/** One deviation that changes the body: a pure function from the picture to edits. */
export type BodyRule = (context: BodyContext) => readonly Edit[];
