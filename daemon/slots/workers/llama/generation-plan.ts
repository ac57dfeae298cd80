import type { Generation } from './request.ts';
import type { ReadOptions } from './response-reader.ts';

/** How to generate and read the answer to one chat. */
export interface ChatPlan {
  readOptions: ReadOptions;
  grammar: Generation['grammar'];
  /** The grammar applies after this text. Null: from the beginning. */
  gate: string | null;
  /** Control tokens that are decoded as text. */
  marks: readonly string[];
}
