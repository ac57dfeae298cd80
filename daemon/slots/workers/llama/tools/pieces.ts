/** A part of an answer as it becomes known. Call pieces carry the number of their call within the answer. */
export type Piece =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'call'; index: number; id: string; name: string }
  | { type: 'arguments'; index: number; text: string };

/** What a scanner of one family finds; the numbers and ids come later. */
export type ScannedPiece =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** `id` where the model itself gives its calls names. */
  | { type: 'call'; name: string; id?: string }
  | { type: 'arguments'; text: string }
  | { type: 'callEnd' };

/** Takes calls out of a stream of text pieces. What cannot be read as a call comes back as text. */
export interface CallScanner {
  push(text: string): ScannedPiece[];
  /** What was held back, once no more comes. A call that has begun stays as far as it came. */
  end(): ScannedPiece[];
}
