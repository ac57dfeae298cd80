/** Token counts of a chat response. */
export interface ChatUsage {
  readonly input: number;
  /** Part of `input` that was read from the engine's cache. */
  readonly cached: number;
  readonly output: number;
  /** Part of `output` that is reasoning. */
  readonly reasoning: number;
}

/** The kind of a text in a response. */
export type TextKind = 'reasoning' | 'text' | 'refusal';

/** The field of a chat message that contains reasoning. */
export type ThoughtField = 'reasoning' | 'reasoning_content';

/**
 * One step of a chat response, the same for complete responses and streams. Every dialect is built from
 * these.
 */
export type Piece =
  /** `field` contained the reasoning, unless it was a content part. */
  | { readonly type: TextKind; readonly text: string; readonly field?: ThoughtField }
  /** A call begins. `index` numbers the calls of the response. */
  | {
      readonly type: 'call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      /** Fields other than name and arguments that the engine requires back. */
      readonly extra?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string }
  /** `reason` in the words of OpenAI's API where it is known. `stop`: the stop sequence that matched, if the engine reports it. */
  | { readonly type: 'finish'; readonly reason: string; readonly stop: string | null }
  | { readonly type: 'usage'; readonly usage: ChatUsage };
