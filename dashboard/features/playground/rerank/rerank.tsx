import type { ReactElement } from 'react';
import { snippetOf } from '../../../api/snippets.ts';
import { Card } from '../../../ui/card.tsx';
import { count } from '../../../ui/format.ts';
import { TextArea, TextInput } from '../../../ui/inputs.tsx';
import { ThinBar } from '../../../ui/thin-bar.tsx';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import form from '../parts/mode-form.module.css';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { type ResponseMeta, requestJson } from '../parts/request.ts';
import { ResponseLine } from '../parts/response-line.tsx';
import { useModels } from '../parts/use-models.ts';
import css from './rerank.module.css';
import { type RerankRequest, rerankLacks, rerankRequest } from './rerank-request.ts';

interface Answer {
  results: { index: number; relevance_score: number }[];
  usage?: { total_tokens?: number };
}

interface Sorted {
  readonly documents: readonly string[];
  readonly results: Answer['results'];
  readonly tokens: number | null;
  readonly meta: ResponseMeta;
}

const score = new Intl.NumberFormat('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 });

const fields = new Fields('rerank', {
  model: '',
  query: 'where does the cat sleep',
  documents:
    'the invoice is due on friday\nthe cat sleeps in the basket\ndogs bark at night\nour cat likes the sofa',
  topN: '',
});
const job = new Job<Sorted>();

async function sort(body: RerankRequest, signal: AbortSignal): Promise<Sorted> {
  const { value, meta } = await requestJson<Answer>('v1.rerank', { body, signal });
  return {
    documents: body.documents,
    results: value.results,
    tokens: value.usage?.total_tokens ?? null,
    meta,
  };
}

/** Results, best first. Bars start at 0; scores outside 0 to 1 are scaled from the lowest to the highest one. */
function Ranks(props: { sorted: Sorted }): ReactElement {
  const { documents, results } = props.sorted;
  const scores = results.map(({ relevance_score }) => relevance_score);
  const [min, max] = [Math.min(...scores), Math.max(...scores)];
  const isAbsolute = min >= 0 && max <= 1;
  const relative = (value: number): number => (max === min ? 1 : (value - min) / (max - min));
  const share = (value: number): number => (isAbsolute ? value : relative(value));
  return (
    <ol className={css.ranks} aria-label="Documents, best first">
      {results.map(({ index, relevance_score: value }) => (
        <li key={index} className={css.rank}>
          <span className={css.text}>{documents[index] ?? `document ${index + 1}`}</span>
          <span className={css.score}>{score.format(value)}</span>
          <ThinBar className={css.share} percent={Math.max(1, share(value) * 100)} />
        </li>
      ))}
    </ol>
  );
}

/** The rerank mode: ranks documents by relevance to a query. */
export function Rerank(): ReactElement {
  const at = useFields(fields);
  const state = useJob(job);
  const models = useModels('rerank', at.model);
  const body = rerankRequest(at, models.id);
  return (
    <ModePage
      ability="rerank"
      models={models}
      onModel={(model) => fields.set({ model })}
      about="The model reads the query with each document and scores how relevant each one is."
      codeOf={(language, place) => snippetOf(language, { ...place, route: 'rerank', body })}
    >
      <ModeForm
        job={job}
        state={state}
        verb="Rank documents"
        lacks={models.lacks ?? rerankLacks(at)}
        onSend={() => void job.run((signal) => sort(body, signal))}
      >
        <TextInput label="Query" value={at.query} onChange={(query) => fields.set({ query })} />
        <TextArea
          label="Documents, one per line"
          rows={6}
          value={at.documents}
          onChange={(next) => fields.set({ documents: next })}
        />
        <div className={form.row}>
          <TextInput
            label="Number of results"
            numeric
            value={at.topN}
            placeholder="all"
            help="Returns only the best matches."
            onChange={(topN) => fields.set({ topN })}
          />
        </div>
      </ModeForm>
      {state.result === null ? null : (
        <Card title="Results">
          <Ranks sorted={state.result} />
          <p className={css.note}>Scores depend on the model. Compare them only within one response.</p>
          <ResponseLine
            meta={state.result.meta}
            more={[state.result.tokens === null ? null : `${count(state.result.tokens)} tokens`]}
          />
        </Card>
      )}
    </ModePage>
  );
}
