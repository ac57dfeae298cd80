import { RerankBody, textsOf } from '../../../contract/rerank.ts';
import { parseBody } from './request.ts';

export interface RerankRequest {
  query: string;
  documents: readonly string[];
  /** Most results; null for all. */
  topN: number | null;
  returnDocuments: boolean;
}

/** Reads the body of `POST /v1/rerank`; throws a 400 that names the field at fault. */
export function rerankRequest(input: unknown): RerankRequest {
  const { query, documents, top_n, return_documents } = parseBody(RerankBody, input);
  return {
    query,
    documents: textsOf(documents),
    topN: top_n ?? null,
    returnDocuments: return_documents ?? false,
  };
}
