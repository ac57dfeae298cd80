/** Token counts of a chat answer. */
export interface ChatUsage {
  readonly input: number;
  /** Of `input`: taken from the cache of the engine. */
  readonly cached: number;
  readonly output: number;
  /** Of `output`: thoughts. */
  readonly reasoning: number;
}

/** What text of an answer is. */
export type TextKind = 'reasoning' | 'text' | 'refusal';

/** The field of a chat message in which a model's thoughts stand. */
export type ThoughtField = 'reasoning' | 'reasoning_content';

/** One step of a chat answer, the same for whole answers and for streams; every dialect is told from these. */
export type Piece =
  /** `field`: where thoughts stood, unless among the parts of the content. */
  | { readonly type: TextKind; readonly text: string; readonly field?: ThoughtField }
  /** A call begins; `index` numbers the calls of the answer. */
  | {
      readonly type: 'call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      /** What the engine says with it beside name and arguments, and wants back. */
      readonly extra?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'arguments'; readonly index: number; readonly text: string }
  /** `stop`: the stop text that ended it, where the engine tells. */
  | { readonly type: 'finish'; readonly reason: string; readonly stop: string | null }
  | { readonly type: 'usage'; readonly usage: ChatUsage };
