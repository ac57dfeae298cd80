import { definedFields, linesOf, numberFault, numberOf } from '../parts/numbers.ts';

const MAX_LINES = 200;

/** Field values of the form. */
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

/** Builds the request from the form; without `topN` it returns all documents. */
export function rerankRequest(form: RerankForm, model: string | null): RerankRequest {
  return {
    model: model ?? 'rerank',
    query: form.query.trim(),
    documents: linesOf(form.documents),
    ...definedFields({ top_n: numberOf(form.topN) }),
  };
}

/** Why the form cannot be sent; null when it can. */
export function rerankLacks(form: RerankForm): string | null {
  if (form.query.trim() === '') return 'Enter a query.';
  const { length } = linesOf(form.documents);
  if (length === 0) return 'Enter at least one document.';
  if (length > MAX_LINES) return `This page ranks at most ${MAX_LINES} documents.`;
  return numberFault('Number of results', form.topN, 1, MAX_LINES);
}
