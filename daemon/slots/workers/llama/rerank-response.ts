import type { Ranking } from './rerank-engine.ts';
import type { RerankRequest } from './rerank-request.ts';

/**
 * Builds the response in the form that all rerank clients share: best first, equal scores in request order.
 * `index` is the position in the request. `_svc.raw_score` is the output of the model's head
 * (docs/spec/contract.md#rerank-scores). The counts come last, where readers of the end of a response find them.
 */
export function rerankAnswer({ scores, tokens }: Ranking, request: RerankRequest, model: string): object {
  const { documents, topN, returnDocuments } = request;
  const results = scores
    .map(({ score, raw }, index) => ({
      index,
      relevance_score: score,
      ...(raw === null ? {} : { _svc: { raw_score: raw } }),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, topN ?? scores.length)
    .map((result) =>
      returnDocuments ? { ...result, document: { text: documents[result.index] ?? '' } } : result,
    );
  return { object: 'list', model, results, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
