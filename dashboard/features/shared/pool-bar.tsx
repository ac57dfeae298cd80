import { Meter } from '@base-ui/react/meter';
import type { ReactElement } from 'react';
import { gib } from '../../ui/format.ts';
import css from './pool-bar.module.css';
import type { PoolUsage } from './pools.ts';

/** A stacked bar of the memory use of a pool, with a legend. */
export function PoolBar(props: { name: string; usage: PoolUsage }): ReactElement {
  const { usage } = props;
  return (
    <>
      <Meter.Root
        value={usage.used}
        max={usage.total}
        getAriaValueText={() => `${gib(usage.used)} of ${gib(usage.total)} in use`}
        aria-label={`Memory of ${props.name}`}
      >
        <Meter.Track className={css.track}>
          {usage.shares.map((share) => (
            <span
              key={share.id}
              className={css.share}
              data-kind={share.kind}
              title={`${share.label}: ${gib(share.bytes)}`}
              style={{ width: `${(share.bytes / usage.total) * 100}%` }}
            />
          ))}
        </Meter.Track>
      </Meter.Root>
      <ul className={css.legend}>
        {usage.shares.map((share) => (
          <li key={share.id}>
            <i data-kind={share.kind} />
            {share.label} <b>{gib(share.bytes)}</b>
          </li>
        ))}
        <li>
          <i data-kind="free" />
          free <b>{gib(usage.free)}</b>
        </li>
      </ul>
    </>
  );
}
