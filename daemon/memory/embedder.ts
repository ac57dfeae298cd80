import type { Tier } from '../contract/auth.ts';

export interface EmbedRequest {
  readonly texts: readonly string[];
  /** The tier on whose behalf; the class of the embeddings route applies. */
  readonly tier: Tier;
  readonly signal: AbortSignal;
  /** Maximum time in milliseconds, a load included. */
  readonly limitMs: number;
  /** The request is not interactive. */
  readonly background: boolean;
}

/** Creates embeddings of texts, independent of the implementation. */
export interface Embedder {
  /**
   * Returns the model that would be used and whether it is loaded; null when there is none. Loads nothing.
   */
  current(): { readonly model: string; readonly loaded: boolean } | null;
  /**
   * Returns one vector per text and the model that made them. Throws a GatewayError, or the reason of the
   * signal.
   */
  embed(
    request: EmbedRequest,
  ): Promise<{ readonly model: string; readonly vectors: readonly (readonly unknown[])[] }>;
}
