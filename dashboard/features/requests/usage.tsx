import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { useQuery } from '@tanstack/react-query';
import { ChartColumn } from 'lucide-react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { UsageView } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import filters from '../../ui/filters.module.css';
import { count } from '../../ui/format.ts';
import { HelpLine } from '../../ui/help.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import table from '../../ui/table.module.css';
import tabs from '../../ui/tabs.module.css';
import { TERMS } from '../shared/terms.ts';
import css from './requests.module.css';
import { sumsBy, totalOf, type UsageKey, type UsageSum, uncountedText } from './usage-sums.ts';

const SPANS = ['7', '30', '90'] as const;
const KEYS: Record<UsageKey, string> = { day: 'Day', tier: 'Tier', model: 'Model' };
const TIERS: Readonly<Record<string, string>> = {
  anon: 'without a key',
  client: 'client key',
  admin: 'admin key',
};

function nameOf(key: UsageKey, name: string): string {
  if (key === 'tier') return TIERS[name] ?? name;
  return name === '' ? 'failed' : name;
}

function Choice(props: {
  label: string;
  value: string;
  choices: readonly { id: string; word: string }[];
  onChange: (id: string) => void;
}): ReactElement {
  return (
    <ToggleGroup
      className={tabs.list}
      aria-label={props.label}
      value={[props.value]}
      onValueChange={([next]) => (next === undefined ? undefined : props.onChange(next))}
    >
      {props.choices.map(({ id, word }) => (
        <Toggle key={id} className={tabs.tab} value={id}>
          {word}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}

/** Shows a sum of tokens as a minimum when it is incomplete. */
function Tokens(props: { value: number; uncounted: number }): ReactElement {
  const { value, uncounted } = props;
  if (uncounted === 0) return <td className={table.number}>{count(value)}</td>;
  return (
    <td className={table.number} title={uncountedText(uncounted)}>
      <span aria-hidden="true">≥ </span>
      <span className="hidden-visually">at least </span>
      {count(value)}
    </td>
  );
}

function Numbers(props: { sum: UsageSum }): ReactElement {
  const { sum } = props;
  return (
    <>
      <td className={table.number}>{count(sum.requests)}</td>
      <Tokens value={sum.prompt} uncounted={sum.uncounted} />
      <Tokens value={sum.completion} uncounted={sum.uncounted} />
    </>
  );
}

function UsageTable(props: { by: UsageKey; usage: UsageView }): ReactElement {
  const { by, usage } = props;
  const sums = sumsBy(by, usage.days);
  const max = Math.max(1, ...sums.map((sum) => sum.prompt + sum.completion));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={table.scroll} tabIndex={0} aria-label={`Usage by ${by}`}>
      <table className={table.table}>
        <caption className="hidden-visually">Usage by {by}</caption>
        <thead>
          <tr>
            <th scope="col">{KEYS[by]}</th>
            <th scope="col" className={table.number}>
              Requests
            </th>
            <th scope="col" className={table.number}>
              Tokens in
            </th>
            <th scope="col" className={table.number}>
              Tokens out
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.map((sum) => (
            <tr key={sum.name}>
              <th scope="row">
                <span className={table.break}>{nameOf(by, sum.name)}</span>
                <span
                  className={css.share}
                  aria-hidden="true"
                  style={{ width: `${((sum.prompt + sum.completion) / max) * 100}%` }}
                />
              </th>
              <Numbers sum={sum} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <Numbers sum={totalOf(sums)} />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

const uncountedIn = ({ days }: UsageView): number => totalOf(sumsBy('tier', days)).uncounted;

/** Requests and tokens per day, tier or model. */
export function Usage(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const days = SPANS.find((span) => span === search.get('days')) ?? '30';
  const by = (Object.keys(KEYS) as UsageKey[]).find((key) => key === search.get('by')) ?? 'day';
  const usage = useQuery(queries.usage(Number(days)));
  return (
    <Card title="Usage" flush>
      <div className={`${filters.filters} ${filters.inset}`}>
        <Choice
          label="Group by"
          value={by}
          choices={(Object.keys(KEYS) as UsageKey[]).map((id) => ({ id, word: `By ${id}` }))}
          onChange={(next) => setSearch({ days, by: next }, { replace: true })}
        />
        <Choice
          label="Period"
          value={days}
          choices={SPANS.map((id) => ({ id, word: `${id} days` }))}
          onChange={(next) => setSearch({ days: next, by }, { replace: true })}
        />
        {by === 'tier' ? <HelpLine term={TERMS.tier} /> : null}
      </div>
      <Loaded query={usage} what="usage" lines={6}>
        {(data) =>
          data.days.length === 0 ? (
            <Empty icon={ChartColumn} title="No requests in this period">
              <Link className={buttonClass()} href="/playground">
                Open playground
              </Link>
            </Empty>
          ) : (
            <>
              <UsageTable by={by} usage={data} />
              <p className={css.remark}>
                Days are in UTC, since {data.since}.{data.truncated ? ' Older rows are not shown.' : ''}
                {uncountedIn(data) > 0
                  ? ` Sums with ≥ are minimums: ${uncountedText(uncountedIn(data))}.`
                  : ''}
              </p>
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
