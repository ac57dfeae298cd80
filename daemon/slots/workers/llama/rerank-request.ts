import { z } from 'zod';
import { parseBody } from './request.ts';

export interface RerankRequest {
  query: string;
  documents: readonly string[];
  /** Most results; null for all. */
  topN: number | null;
  returnDocuments: boolean;
}

/** Documents of one request. */
export const DOCUMENTS_MOST = 2_048;

const body = z.looseObject({
  query: z.string({ error: 'must be a string' }).min(1, 'must not be empty'),
  documents: z
    .array(
      z.union([z.string(), z.looseObject({ text: z.string() })], {
        error: 'must be a string or an object with a text',
      }),
      { error: 'must be an array of documents' },
    )
    .min(1, 'must not be empty')
    .max(DOCUMENTS_MOST, `holds more than ${DOCUMENTS_MOST} documents`),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});

/** Reads the body of `POST /v1/rerank`; throws a 400 that names the field at fault. */
export function rerankRequest(input: unknown): RerankRequest {
  const { query, documents, top_n, return_documents } = parseBody(body, input);
  return {
    query,
    documents: documents.map((document) => (typeof document === 'string' ? document : document.text)),
    topN: top_n ?? null,
    returnDocuments: return_documents ?? false,
  };
}
