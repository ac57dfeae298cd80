/** How a call is written: as a tool call, as the input of a custom tool, or as the call of OpenAI's older API. */
export type CallKind = 'function' | 'custom' | 'legacy';

/** How the caller declared its tools, which decides how calls are written. */
export interface CallStyle {
  /** With `functions`, as in OpenAI's older API. */
  readonly legacy: boolean;
  /** The names of custom tools, whose input is a text. */
  readonly custom: ReadonlySet<string>;
}

/** A part of an answer as it becomes known. Call pieces carry the number of their call in the answer. */
export type Piece =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'call'; index: number; id: string; name: string; kind?: CallKind }
  | { type: 'arguments'; index: number; text: string; kind?: CallKind };

/** What the scanner of one family finds. Numbers and ids are added later. */
export type ScannedPiece =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** `id` is set when the model names its calls itself. */
  | { type: 'call'; name: string; id?: string }
  | { type: 'arguments'; text: string }
  | { type: 'callEnd' };

/** Extracts calls from a text stream. What cannot be read as a call is returned as text. */
export interface CallScanner {
  push(text: string): ScannedPiece[];
  /**
   * Returns what was held back. Call this at the end of the stream. An incomplete call keeps the part that
   * arrived.
   */
  end(): ScannedPiece[];
}
