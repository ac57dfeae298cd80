import { z } from 'zod';

/** Documents of one request. */
export const MAX_DOCUMENTS = 2_048;

/** The body of a rerank request, of the gateway and of an embedded engine. */
export const RerankBody = z.looseObject({
  query: z.string({ error: 'must be a string' }).min(1, 'must not be empty'),
  documents: z
    .array(
      z.union([z.string(), z.looseObject({ text: z.string() })], {
        error: 'must be a string or an object with a text',
      }),
      { error: 'must be an array of documents' },
    )
    .min(1, 'must not be empty')
    .max(MAX_DOCUMENTS, `contains more than ${MAX_DOCUMENTS} documents`),
  top_n: z.int('must be a whole number').min(1, 'must be 1 or more').nullish(),
  return_documents: z.boolean('must be true or false').nullish(),
});

/** The documents of a request as texts. */
export const textsOf = (documents: z.infer<typeof RerankBody>['documents']): string[] =>
  documents.map((document) => (typeof document === 'string' ? document : document.text));
