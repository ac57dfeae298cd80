import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { PlanSourceName, SlotPlanView } from '../../../daemon/contract/slots.ts';
import { queries } from '../../api/queries.ts';
import { byteSize } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import table from '../../ui/table.module.css';
import { Forecast } from '../shared/forecast.tsx';
import type { SlotDialogProps } from './slot-dialog-props.ts';
import css from './slots.module.css';

const SOURCES: Record<PlanSourceName, string> = {
  file: 'slot file',
  default: 'default',
  model: 'model file',
  probe: 'detected hardware',
  setting: 'setting',
  request: 'request',
  engine: 'engine',
};

function text(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) {
    return value.length === 0 ? 'none' : value.join(' ');
  }
  return typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value);
}

function Launch(props: { launch: SlotPlanView['launch'] }): ReactElement {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={table.scroll} tabIndex={0} aria-label="Launch settings">
      <table className={`${table.table} ${table.bare}`}>
        <caption className="hidden-visually">Launch settings and their source</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
            <th scope="col" className={table.wideOnly}>
              Source
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(props.launch).map(([key, { value, from }]) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
                <span className={table.under}>from {SOURCES[from]}</span>
              </th>
              <td className={css.value}>{text(value)}</td>
              <td className={`${css.from} ${table.wideOnly}`}>{SOURCES[from]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const NEED_SOURCES: Readonly<Record<SlotPlanView['need']['source'], string>> = {
  file: 'set in the slot file',
  measured: 'measured at an earlier launch',
  estimated: 'estimated from the model files',
};

function Need(props: { need: SlotPlanView['need'] }): ReactElement {
  const { need } = props;
  return (
    <Facts
      wide
      rows={[
        ['Weights', byteSize(need.weights)],
        ['Context', byteSize(need.window)],
        ['Compute', byteSize(need.compute)],
        ['Engine', byteSize(need.engine)],
        ['In host memory', need.host === 0 ? null : byteSize(need.host)],
        ['Total', <b key="all">{byteSize(need.total)}</b>],
        ['Source', NEED_SOURCES[need.source]],
      ]}
    />
  );
}

/** The launch plan of a slot, with the source of each value and the memory it needs. */
export function SlotPlan({ slot, onClose }: SlotDialogProps): ReactElement {
  const plan = useQuery(queries.plan(slot.name));
  return (
    <Sheet title={`Launch plan for slot ${slot.name}`} onClose={onClose}>
      <Loaded query={plan} what="the plan" lines={8}>
        {(data) => (
          <>
            <p>
              <b>{data.model}</b> with engine {data.engine}, runner {data.runner}.
            </p>
            <Forecast forecast={data.forecast} />
            <h3>Memory needed</h3>
            <Need need={data.need} />
            <h3>Launch settings</h3>
            <Launch launch={data.launch} />
          </>
        )}
      </Loaded>
    </Sheet>
  );
}
