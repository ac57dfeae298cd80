import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useRef } from 'react';
import type { ModelWithMemory } from '../../../daemon/contract/models.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { byteSize, count, moment } from '../../ui/format.ts';
import { HelpLine } from '../../ui/help.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { TERMS } from '../shared/terms.ts';
import { Binding } from './binding.tsx';
import { FitBadge } from './fit-badge.tsx';
import { holderOf } from './holder.ts';
import { abilities, parameters, SOURCES, typeWord } from './model-words.ts';
import css from './models.module.css';
import { UseIt } from './next-step.tsx';
import { Thinking } from './thinking.tsx';
import type { Show } from './url-state.ts';
import { Voices } from './voices.tsx';

function Sum(props: { value: string; what: string }): ReactElement {
  const shown = useRef<HTMLElement>(null);
  return (
    <span className={css.sum}>
      <code ref={shown}>{props.value}</code>
      <Copy text={props.value} shown={shown} what={props.what} />
    </span>
  );
}

function AllFacts(props: { model: ModelWithMemory }): ReactElement {
  const { model } = props;
  const measured = Object.entries(model.memory);
  return (
    <Facts
      rows={[
        ['Name', model.name === model.id ? null : model.name],
        ['Type', typeWord(model.type)],
        ['Fit', model.fit === null ? null : <FitBadge key="fit" fit={model.fit} />],
        ['Format', [model.format, model.architecture].filter(Boolean).join(', ')],
        ['Quantisation', model.quantization],
        ['Parameters', model.parameters === null ? null : parameters(model.parameters)],
        ['Context', model.context_length === null ? null : `${count(model.context_length)} tokens`],
        ['Capabilities', abilities(model.capabilities)],
        ['Projector', model.projector ? 'available (vision with engine llama-server)' : null],
        ['Size', model.size_bytes === 0 ? null : byteSize(model.size_bytes)],
        [
          'Measured memory',
          measured.length === 0
            ? 'measured after first use'
            : measured.map(([pool, bytes]) => `${byteSize(bytes)} in ${pool}`).join(', '),
        ],
        ['Source', SOURCES[model.source]],
        ['Repository', model.repo],
        [
          'Revision',
          model.revision === null ? null : <Sum key="rev" value={model.revision} what="the revision" />,
        ],
        [
          'SHA-256',
          model.sha256 === null ? null : <Sum key="sum" value={model.sha256} what="the SHA-256 checksum" />,
        ],
        ['Chat template', model.chat_template && `none in the file; ${model.chat_template} is used`],
        ['Licence', model.licence],
        ['Added', moment(model.created * 1000)],
      ]}
    />
  );
}

function Whole(props: { model: ModelWithMemory; open: (show: Show, of: string) => void }): ReactElement {
  const { model, open } = props;
  const slots = useQuery(queries.slots);
  const all = slots.data?.slots ?? [];
  return (
    <>
      {model.unserved === null ? null : (
        <Note tone="attention">
          <p>Not usable: {model.unserved.reason}.</p>
          <p>{model.unserved.advice}</p>
        </Note>
      )}
      <AllFacts model={model} />
      <section className={css.part} aria-label="Served by">
        <h3>Served by</h3>
        <HelpLine term={TERMS.slot} />
        <Binding model={model} slots={all} />
      </section>
      {model.type === 'tts' ? <Voices model={model.id} /> : null}
      {model.type === 'llm' ? (
        <section className={css.part} aria-label="Reasoning">
          <h3>Reasoning</h3>
          <Thinking model={model} />
        </section>
      ) : null}
      <div className={css.acts}>
        <UseIt model={model} slot={holderOf(model, all)} onLoad={() => open('load', model.id)} />
        <Button variant="danger" onClick={() => open('remove', model.id)}>
          Remove model…
        </Button>
      </div>
    </>
  );
}

/** All metadata of one model, with its binding and reasoning default. */
export function Details(props: {
  id: string;
  open: (show: Show, of: string) => void;
  onClose: () => void;
}): ReactElement {
  const models = useQuery(queries.registry);
  return (
    <Sheet title={props.id} onClose={props.onClose}>
      <Loaded query={models} what="the model" lines={10}>
        {(data) => {
          const model = data.models.find(({ id }) => id === props.id);
          if (model === undefined) return <p>This model no longer exists.</p>;
          return <Whole key={model.id} model={model} open={props.open} />;
        }}
      </Loaded>
    </Sheet>
  );
}
