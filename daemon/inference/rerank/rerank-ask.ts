import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { RerankBody, textsOf } from '../../contract/rerank.ts';
import { readBody } from '../dialects/read-body.ts';

/** What a rerank request asks for. */
export interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  /** Most results; never more than there are documents. */
  readonly topN: number;
  readonly returnDocuments: boolean;
  /** Every other field but `model`. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** Reads a rerank request; throws `request.invalid` (400, as the embedded engine does) that names the field at fault. */
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
    // Clients look for the name of the field, as OpenAI gives it, not for a place in it.
    throw new GatewayError('request.invalid', {
      status: 400,
      message: error.message,
      param: param?.split('.', 1)[0],
      details,
    });
  }
}

/** How an engine is asked: by the names that Jina, llama-server and vLLM share, or by those of TEI. */
export type RerankFormat = 'common' | 'tei';

/** The body for an engine: texts only, since not all of them know documents as objects; they are put back here. */
export function rerankBody(ask: RerankRequest, model: string | null, words: RerankFormat): Buffer {
  const { query, documents, topN, others } = ask;
  if (words === 'tei')
    return Buffer.from(JSON.stringify({ query, texts: documents, truncate: others.truncate }));
  const named = model === null ? {} : { model };
  return Buffer.from(JSON.stringify({ ...others, ...named, query, documents, top_n: topN }));
}
