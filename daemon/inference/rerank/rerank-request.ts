import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { RerankBody, textsOf } from '../../contract/rerank.ts';
import type { RerankApi } from '../../upstreams/provider-kinds.ts';
import { readBody } from '../dialects/read-body.ts';

/** A parsed rerank request. */
export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** Maximum number of results; at most the number of documents. */
  readonly topN: number;
  readonly returnDocuments: boolean;
  /** Every other field except `model`. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Parses a rerank request. Throws `request.invalid` (422) with the field at fault. */
export function parseRerankRequest(body: Buffer): RerankRequest {
  const { query, documents, top_n, return_documents, model: _, ...others } = read(body);
  return {
    query,
    documents: textsOf(documents),
    topN: Math.min(top_n ?? documents.length, documents.length),
    returnDocuments: return_documents ?? false,
    others,
  };
}

function read(body: Buffer): z.infer<typeof RerankBody> {
  try {
    return readBody(RerankBody, body);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'request.invalid') throw error;
    const { param, details } = error.options;
    // Clients expect the field name, as at OpenAI, not a path inside it.
    throw new GatewayError('request.invalid', {
      message: error.message,
      param: param?.split('.', 1)[0],
      details,
    });
  }
}

/**
 * Returns the body for an engine. Documents are plain texts, because not every engine accepts objects; the
 * response restores them.
 */
export function rerankBody(request: RerankRequest, model: string | null, api: RerankApi): Buffer {
  const { query, documents, topN, others } = request;
  if (api === 'tei')
    return Buffer.from(JSON.stringify({ query, texts: documents, truncate: others.truncate }));
  const named = model === null ? {} : { model };
  if (api === 'score')
    return Buffer.from(JSON.stringify({ ...others, ...named, text_1: query, text_2: documents }));
  return Buffer.from(JSON.stringify({ ...others, ...named, query, documents, top_n: topN }));
}
