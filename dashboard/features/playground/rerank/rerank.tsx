import type { ReactElement } from 'react';
import { snippetOf } from '../../../api/snippets.ts';
import { Card } from '../../../ui/card.tsx';
import { count } from '../../../ui/format.ts';
import { TextArea, TextInput } from '../../../ui/inputs.tsx';
import { ThinBar } from '../../../ui/thin-bar.tsx';
import { askJson, type Told } from '../parts/ask.ts';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import form from '../parts/mode-form.module.css';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { ToldLine } from '../parts/told-line.tsx';
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
  readonly told: Told;
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
  const { value, told } = await askJson<Answer>('v1.rerank', { body, signal });
  return {
    documents: body.documents,
    results: value.results,
    tokens: value.usage?.total_tokens ?? null,
    told,
  };
}

/** Best first; the bar runs from the worst score of the answer to its best. */
function Ranks(props: { sorted: Sorted }): ReactElement {
  const { documents, results } = props.sorted;
  const scores = results.map(({ relevance_score }) => relevance_score);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  const share = (value: number): number => (most === least ? 1 : (value - least) / (most - least));
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

/** Documents sorted by how well they answer a question. */
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
      about="The model reads the question together with each document and says how well they belong together."
      codeOf={(language, place) => snippetOf(language, { ...place, route: 'rerank', body })}
    >
      <ModeForm
        job={job}
        state={state}
        verb="Sort"
        lacks={models.lacks ?? rerankLacks(at)}
        onSend={() => void job.run((signal) => sort(body, signal))}
      >
        <TextInput label="Question" value={at.query} onChange={(query) => fields.set({ query })} />
        <TextArea
          label="Documents, one per line"
          rows={6}
          value={at.documents}
          onChange={(next) => fields.set({ documents: next })}
        />
        <div className={form.row}>
          <TextInput
            label="At most"
            numeric
            value={at.topN}
            placeholder="all"
            help="How many of the best are answered."
            onChange={(topN) => fields.set({ topN })}
          />
        </div>
      </ModeForm>
      {state.result === null ? null : (
        <Card title="Best first">
          <Ranks sorted={state.result} />
          <p className={css.note}>Scores are the model's own; compare them within one answer only.</p>
          <ToldLine
            told={state.result.told}
            more={[state.result.tokens === null ? null : `${count(state.result.tokens)} tokens`]}
          />
        </Card>
      )}
    </ModePage>
  );
}
