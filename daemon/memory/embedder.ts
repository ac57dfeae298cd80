import type { Tier } from '../contract/auth.ts';

export interface EmbedRequest {
  readonly texts: readonly string[];
  /** On whose behalf: the class of the embeddings route holds. */
  readonly tier: Tier;
  readonly signal: AbortSignal;
  /** Longest time in milliseconds, a load included. */
  readonly limitMs: number;
  /** Nobody waits for it. */
  readonly background: boolean;
}

/** Makes vectors of texts; the memory knows nothing of how. */
export interface Embedder {
  /** The model that would make them now, and whether it is in memory already; null without one. Loads nothing. */
  current(): { readonly model: string; readonly loaded: boolean } | null;
  /** One vector for each text, and the model that made them. Throws a GatewayError, or the signal's reason. */
  embed(
    ask: EmbedRequest,
  ): Promise<{ readonly model: string; readonly vectors: readonly (readonly unknown[])[] }>;
}
