import { useQuery } from '@tanstack/react-query';
import { PackageOpen, SearchX } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { queries } from '../../api/queries.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import field from '../../ui/field.module.css';
import { byteSize } from '../../ui/format.ts';
import { HelpMark } from '../../ui/help.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { TERMS } from '../shared/terms.ts';
import { InstalledItem } from './installed-item.tsx';
import { inOrder, modelLine } from './model-words.ts';
import css from './models.module.css';
import { Problems } from './scan-result.tsx';
import type { Show } from './url-state.ts';

/** Lists of at most this length have no filter. */
const MAX_WITHOUT_FILTER = 8;

const matches = (model: ModelWithMemory, words: string): boolean =>
  `${model.id} ${model.name} ${modelLine(model)}`.toLowerCase().includes(words.trim().toLowerCase());

function NoModel(props: { open: (show: Show) => void }): ReactElement {
  return (
    <Empty icon={PackageOpen} title="No models yet">
      <p>
        Download one from the catalogue, or add a file from disk. Model folders are set in{' '}
        <code>[models] folders</code>.
      </p>
      <div className={css.acts}>
        <Link className={buttonClass('main')} href="/models/catalog">
          Open catalogue
        </Link>
        <Button onClick={() => props.open('register')}>Add from disk…</Button>
      </div>
    </Empty>
  );
}

/** The files in the model folders that cannot be used. Renders nothing without any. */
export function UnusableFiles(): ReactElement | null {
  const models = useQuery(queries.registry);
  const problems = models.data?.problems ?? [];
  if (problems.length === 0) return null;
  return (
    <Card title="Not usable" aside={`${problems.length} ${problems.length === 1 ? 'file' : 'files'}`}>
      <Problems problems={problems} />
    </Card>
  );
}

/** The installed models. */
export function Installed(props: { open: (show: Show, of?: string) => void }): ReactElement {
  const models = useQuery(queries.registry);
  const slots = useQuery(queries.slots);
  const [words, setWords] = useState('');
  const all = models.data?.models ?? [];
  const bytes = all.reduce((sum, model) => sum + model.size_bytes, 0);
  return (
    <Card
      title="Installed"
      help={<HelpMark term={TERMS.slot} />}
      flush
      aside={
        all.length === 0
          ? undefined
          : `${all.length} ${all.length === 1 ? 'model' : 'models'}, ${byteSize(bytes)}`
      }
    >
      {all.length <= MAX_WITHOUT_FILTER ? null : (
        <div className={css.search}>
          <input
            type="search"
            className={field.input}
            aria-label="Filter installed models"
            placeholder="Name, type, quantisation…"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
      )}
      <Loaded query={models} what="installed models" lines={6}>
        {(data) => {
          if (data.models.length === 0) return <NoModel open={props.open} />;
          const shown = inOrder(data.models.filter((model) => matches(model, words)));
          if (shown.length === 0) {
            return (
              <Empty icon={SearchX} title="No models match">
                <Button onClick={() => setWords('')}>Show all models</Button>
              </Empty>
            );
          }
          return (
            <ul className={css.list} aria-label="Installed models">
              {shown.map((model) => (
                <InstalledItem
                  key={model.id}
                  model={model}
                  slots={slots.data?.slots ?? []}
                  open={props.open}
                />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}
