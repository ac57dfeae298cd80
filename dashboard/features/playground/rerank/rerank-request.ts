import { linesOf, numberFault, numberOf, said } from '../parts/numbers.ts';

const MOST_LINES = 200;

/** What stands in the fields of the form. */
export interface RerankForm {
  readonly query: string;
  /** One per line. */
  readonly documents: string;
  readonly topN: string;
}

export interface RerankRequest extends Readonly<Record<string, unknown>> {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
}

/** The request that a form makes; without `topN` all documents are answered. */
export function rerankRequest(form: RerankForm, model: string | null): RerankRequest {
  return {
    model: model ?? 'rerank',
    query: form.query.trim(),
    documents: linesOf(form.documents),
    ...said({ top_n: numberOf(form.topN) }),
  };
}

/** Why it cannot be sent; null when it can. */
export function rerankLacks(form: RerankForm): string | null {
  if (form.query.trim() === '') return 'Write a question.';
  const { length } = linesOf(form.documents);
  if (length === 0) return 'Write at least one document.';
  if (length > MOST_LINES) return `This page sorts at most ${MOST_LINES} documents.`;
  return numberFault('At most', form.topN, 1, MOST_LINES);
}
