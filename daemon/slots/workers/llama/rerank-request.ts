import { RerankBody, textsOf } from '../../../contract/rerank.ts';
import { parseBody } from './request.ts';

export interface RerankRequest {
  query: string;
  documents: readonly string[];
  /** Maximum number of results. Null: all. */
  topN: number | null;
  returnDocuments: boolean;
}

/** Parses the body of `POST /v1/rerank`. Throws a 400 that names the invalid field. */
export function rerankRequest(input: unknown): RerankRequest {
  const { query, documents, top_n, return_documents } = parseBody(RerankBody, input);
  return {
    query,
    documents: textsOf(documents),
    topN: top_n ?? null,
    returnDocuments: return_documents ?? false,
  };
}
