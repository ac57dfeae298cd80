import type { Json } from '../dialects/json.ts';

/** The messages of a chat that was translated from another API. */
export interface ChatHistory {
  /** In the order of the body. */
  readonly messages: readonly Json[];
  /** Returns the fields of this upstream's call besides name and arguments. */
  extraOf(upstream: string, callId: string): Json | undefined;
}
