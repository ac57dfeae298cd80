import type { UseQueryResult } from '@tanstack/react-query';
import { Boxes } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import type { Responses } from '../../api/responses.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { byteSize, tokenRate } from '../../ui/format.ts';
import { HelpMark } from '../../ui/help.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import { State } from '../../ui/state-badge.tsx';
import { slotBadge, slotModel } from '../shared/slot-state.ts';
import { TERMS } from '../shared/terms.ts';
import css from './slots.module.css';

/** Explicit roles: some browsers drop the roles of a table whose layout is changed by CSS. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader', scope: 'col' },
  name: { role: 'rowheader', scope: 'row' },
  cell: { role: 'cell' },
} as const;

function Measure(props: { label: string; value: string | null }): ReactElement {
  return (
    <td {...ROLES.cell} data-label={props.label} className={css.number}>
      {props.value ?? <span className={css.none}>–</span>}
    </td>
  );
}

function SlotLine(props: { slot: SlotRecord }): ReactElement {
  const { slot } = props;
  const badge = slotBadge(slot);
  const queue = slot.active === 0 && slot.queued === 0 ? 'idle' : `${slot.active} + ${slot.queued}`;
  return (
    <tr {...ROLES.row}>
      <th {...ROLES.name}>
        <Link className={css.name} href={`/slots?slot=${encodeURIComponent(slot.name)}`}>
          {slot.name}
        </Link>
        <span className={css.model}>{slotModel(slot)}</span>
      </th>
      <td {...ROLES.cell} className={css.state}>
        <State tone={badge.tone}>{badge.word}</State>
        <span className={css.since}>
          <Ago at={slot.since} />
          {slot.device === null ? '' : ` · ${slot.device}`}
        </span>
      </td>
      <Measure
        label="Speed"
        value={slot.tokens_per_second === null ? null : tokenRate(slot.tokens_per_second)}
      />
      <Measure label="Active + queued" value={queue} />
      <Measure label="Memory" value={slot.memory_bytes === null ? null : byteSize(slot.memory_bytes)} />
    </tr>
  );
}

function SlotTable(props: { slots: readonly SlotRecord[] }): ReactElement {
  if (props.slots.length === 0) {
    return (
      <Empty icon={Boxes} title="No slots yet">
        <p>
          A slot runs one model. Setup downloads one that fits this machine, or you can{' '}
          <Link href="/models?show=register">add a model file from disk</Link>.
        </p>
        <Link className={buttonClass('main')} href="/setup">
          Go to setup
        </Link>
      </Empty>
    );
  }
  return (
    <div className={css.place}>
      <table {...ROLES.table} className={css.table} aria-label="Slots">
        <thead {...ROLES.group}>
          <tr {...ROLES.row}>
            <th {...ROLES.head}>Slot and model</th>
            <th {...ROLES.head}>State</th>
            <th {...ROLES.head}>Speed</th>
            <th {...ROLES.head} title="Active + queued requests">
              Queue
            </th>
            <th {...ROLES.head}>Memory</th>
          </tr>
        </thead>
        <tbody {...ROLES.group}>
          {props.slots.map((slot) => (
            <SlotLine key={slot.name} slot={slot} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The slots, one row each. */
export function Slots(props: { query: UseQueryResult<Responses['slots']> }): ReactElement {
  return (
    <Card title="Slots" help={<HelpMark term={TERMS.slot} />} flush>
      <Loaded query={props.query} what="slots">
        {(data) => <SlotTable slots={data.slots} />}
      </Loaded>
    </Card>
  );
}
