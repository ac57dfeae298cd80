import { Download } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import type { ImagesResponse } from '../../../../daemon/contract/images.ts';
import { type Drawing, drawnNow, onDrawing } from '../../../api/drawings.ts';
import { snippetOf } from '../../../api/snippets.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { duration } from '../../../ui/format.ts';
import { Choice, TextArea, TextInput } from '../../../ui/inputs.tsx';
import { askJson, type Told } from '../parts/ask.ts';
import { Fields, useFields } from '../parts/fields.ts';
import { Job, useJob } from '../parts/job.ts';
import form from '../parts/mode-form.module.css';
import { ModeForm } from '../parts/mode-form.tsx';
import { ModePage } from '../parts/mode-page.tsx';
import { ToldLine } from '../parts/told-line.tsx';
import { useModels } from '../parts/use-models.ts';
import css from './image.module.css';
import { type ImageRequest, imageLacks, imageRequest } from './image-request.ts';
import { ownDrawing } from './own-drawing.ts';
import { DrawingProgress } from './progress.tsx';

const SIZES = [
  ['', "the model's own"],
  ['512x512', '512 × 512'],
  ['768x768', '768 × 768'],
  ['1024x1024', '1024 × 1024'],
  ['1024x768', '1024 × 768'],
  ['768x1024', '768 × 1024'],
] as const;
const COUNTS = ['1', '2', '3', '4', '6', '8'].map((n) => [n, n] as const);

interface Made {
  readonly prompt: string;
  readonly answer: ImagesResponse;
  readonly told: Told;
}

interface Drawn {
  /** How far the picture is that is drawn now. */
  readonly drawing: Drawing | null;
  /** The last ones that are done; they stay while others are drawn. */
  readonly made: Made | null;
}

const fields = new Fields('image', {
  model: '',
  prompt: 'a lighthouse at dusk, oil on canvas',
  size: '',
  count: '1',
  seed: '',
  steps: '',
});
const job = new Job<Drawn>();

function Picture(props: { address: string; alt: string; at: number }): ReactElement {
  const [gone, setGone] = useState(false);
  if (gone) return <p>This picture is no longer kept by the gateway; draw it again with its seed.</p>;
  return (
    <figure className={css.figure}>
      <a href={props.address} target="_blank" rel="noopener">
        <img src={props.address} alt={props.alt} onError={() => setGone(true)} />
      </a>
      <figcaption>
        <a className={buttonClass()} href={props.address} download={`picture-${props.at + 1}.png`}>
          <Download size={14} aria-hidden="true" /> Download
          <span className="hidden-visually"> picture {props.at + 1}</span>
        </a>
      </figcaption>
    </figure>
  );
}

function Pictures(props: { made: Made }): ReactElement {
  const { prompt, answer, told } = props.made;
  const { meta, model, upstream } = answer._svc;
  const addresses = answer.data.flatMap((row) => ('url' in row ? [row.url] : []));
  return (
    <Card title={addresses.length === 1 ? 'The picture' : `${addresses.length} pictures`}>
      <div className={css.pictures}>
        {addresses.map((address, at) => (
          <Picture
            key={address}
            address={address}
            at={at}
            alt={`${prompt} (${at + 1} of ${addresses.length})`}
          />
        ))}
      </div>
      <Facts
        wide
        rows={[
          ['Model', model],
          ['Drawn by', upstream],
          ['Size', `${meta.width} × ${meta.height}`],
          ['Steps', meta.steps],
          ['Seed', <code key="seed">{meta.seed}</code>],
          ['Licence', meta.licence],
          ['Time', duration(meta.duration_ms)],
          ['Could not follow', meta.ignored?.join(', ') ?? null],
        ]}
      />
      <ToldLine told={told} />
    </Card>
  );
}

async function draw(
  body: ImageRequest,
  slot: string | null,
  signal: AbortSignal,
  tell: (drawn: Drawn) => void,
): Promise<Drawn> {
  const made = job.get().result?.made ?? null;
  tell({ drawing: null, made });
  const own = ownDrawing({ slot, model: body.model, before: drawnNow() });
  const leave = onDrawing((next) => {
    const mine = own(next);
    if (mine === null) return;
    tell({ drawing: mine, made });
  });
  try {
    const { value, told } = await askJson<ImagesResponse>('v1.images', { body, signal });
    return { drawing: null, made: { prompt: body.prompt, answer: value, told } };
  } finally {
    leave();
  }
}

/** A picture from words. */
export function Image(): ReactElement {
  const at = useFields(fields);
  const state = useJob(job);
  const models = useModels('image_generation', at.model);
  const body = imageRequest(at, models.id);
  const slot = models.model?._svc.slot ?? null;
  return (
    <ModePage
      ability="image_generation"
      models={models}
      onModel={(model) => fields.set({ model })}
      about="A picture from words. It is kept by the gateway for a while; download what you want to keep."
      codeOf={(language, place) => snippetOf(language, { ...place, route: 'image', body })}
    >
      <ModeForm
        job={job}
        state={state}
        verb="Draw"
        lacks={models.lacks ?? imageLacks(at)}
        onSend={() => void job.run((signal, tell) => draw(body, slot, signal, tell))}
      >
        <TextArea
          label="What to draw"
          rows={3}
          value={at.prompt}
          onChange={(next) => fields.set({ prompt: next })}
        />
        <div className={form.row}>
          <Choice label="Size" value={at.size} choices={SIZES} onChange={(size) => fields.set({ size })} />
          <Choice
            label="Pictures"
            value={at.count}
            choices={COUNTS}
            onChange={(count) => fields.set({ count })}
          />
          <TextInput
            label="Seed"
            numeric
            value={at.seed}
            placeholder="random"
            onChange={(seed) => fields.set({ seed })}
          />
          <TextInput
            label="Steps"
            numeric
            value={at.steps}
            placeholder="the model's own"
            onChange={(steps) => fields.set({ steps })}
          />
        </div>
      </ModeForm>
      {state.phase === 'running' ? <DrawingProgress drawing={state.result?.drawing ?? null} /> : null}
      {state.result?.made ? <Pictures made={state.result.made} /> : null}
    </ModePage>
  );
}
