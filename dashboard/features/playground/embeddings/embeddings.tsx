import type { ReactElement } from 'react';
import { snippetOf } from '../../../api/snippets.ts';
import { Card } from '../../../ui/card.tsx';
import { count } from '../../../ui/format.ts';
import { TextArea } from '../../../ui/inputs.tsx';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { linesOf } from '../parts/numbers.ts';
import { type ResponseMeta, requestJson } from '../parts/request.ts';
import { ResponseLine } from '../parts/response-line.tsx';
import { useModels } from '../parts/use-models.ts';
import { Matrix } from './matrix.tsx';

/** A matrix with more lines is unreadable. */
const MAX_LINES = 24;

interface Answer {
  data: { index: number; embedding: number[] }[];
  usage?: { prompt_tokens?: number };
}

interface Compared {
  readonly texts: readonly string[];
  readonly vectors: ReadonlyArray<readonly number[]>;
  readonly tokens: number | null;
  readonly meta: ResponseMeta;
}

const fields = new Fields('embeddings', {
  model: '',
  texts: 'the cat sat on the mat\na cat is on a mat\nthe invoice is due on friday',
});
const job = new Job<Compared>();

async function compare(texts: readonly string[], body: object, signal: AbortSignal): Promise<Compared> {
  const { value, meta } = await requestJson<Answer>('v1.embeddings', { body, signal });
  const vectors = value.data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
  return { texts, vectors, tokens: value.usage?.prompt_tokens ?? null, meta };
}

/** The embeddings mode: compares lines by their vectors. */
export function Embeddings(): ReactElement {
  const at = useFields(fields);
  const state = useJob(job);
  const models = useModels('embeddings', at.model);
  const texts = linesOf(at.texts);
  const body = { model: models.id, input: texts, encoding_format: 'float' };
  const many = texts.length > MAX_LINES ? `This page compares at most ${MAX_LINES} lines.` : null;
  const lacks = models.lacks ?? (texts.length === 0 ? 'Enter at least one line.' : many);
  return (
    <ModePage
      ability="embeddings"
      models={models}
      onModel={(model) => fields.set({ model })}
      about="Turns each line into a vector and compares them."
      codeOf={(language, place) => snippetOf(language, { ...place, route: 'embeddings', body })}
    >
      <ModeForm
        job={job}
        state={state}
        verb="Compare texts"
        lacks={lacks}
        onSend={() => void job.run((signal) => compare(texts, body, signal))}
      >
        <TextArea
          label="Texts, one per line"
          rows={6}
          value={at.texts}
          onChange={(next) => fields.set({ texts: next })}
        />
      </ModeForm>
      {state.result === null ? null : (
        <Card title="Similarity">
          <Matrix texts={state.result.texts} vectors={state.result.vectors} />
          <ResponseLine
            meta={state.result.meta}
            more={[
              `${count(state.result.vectors[0]?.length ?? 0)} dimensions`,
              state.result.tokens === null ? null : `${count(state.result.tokens)} tokens`,
            ]}
          />
        </Card>
      )}
    </ModePage>
  );
}
