import { Meter } from '@base-ui/react/meter';
import type { CSSProperties, ReactElement } from 'react';
import { byteSize } from '../../ui/format.ts';
import css from './pool-bar.module.css';
import type { PoolUsage, Share } from './pools.ts';

/** The colour of a slot: the same wherever it is drawn. */
const colourOf = ({ colour }: Share): CSSProperties =>
  colour === null ? {} : ({ '--series': `var(--series-${colour})` } as CSSProperties);

/** A stacked bar of the memory use of a pool, with a legend. */
export function PoolBar(props: { name: string; usage: PoolUsage }): ReactElement {
  const { usage } = props;
  return (
    <>
      <Meter.Root
        value={usage.used}
        max={usage.total}
        getAriaValueText={() => `${byteSize(usage.used)} of ${byteSize(usage.total)} in use`}
        aria-label={`Memory of ${props.name}`}
      >
        <Meter.Track className={css.track}>
          {usage.shares.map((share) => (
            <span
              key={share.id}
              className={css.share}
              data-kind={share.kind}
              title={`${share.label}: ${byteSize(share.bytes)}`}
              style={{ width: `${(share.bytes / usage.total) * 100}%`, ...colourOf(share) }}
            />
          ))}
        </Meter.Track>
      </Meter.Root>
      <ul className={css.legend}>
        {usage.shares.map((share) => (
          <li key={share.id}>
            <i data-kind={share.kind} style={colourOf(share)} />
            {share.label} <b>{byteSize(share.bytes)}</b>
          </li>
        ))}
        <li>
          <i data-kind="free" />
          free <b>{byteSize(usage.free)}</b>
        </li>
      </ul>
    </>
  );
}
