import { Meter } from '@base-ui/react/meter';
import type { ReactElement } from 'react';
import { gib } from '../../ui/format.ts';
import css from './pool-bar.module.css';
import type { PoolPicture } from './pools.ts';

/** A stacked bar of the memory use of a pool, with a legend. */
export function PoolBar(props: { name: string; picture: PoolPicture }): ReactElement {
  const { picture } = props;
  return (
    <>
      <Meter.Root
        value={picture.used}
        max={picture.total}
        getAriaValueText={() => `${gib(picture.used)} of ${gib(picture.total)} in use`}
        aria-label={`Memory of ${props.name}`}
      >
        <Meter.Track className={css.track}>
          {picture.shares.map((share) => (
            <span
              key={share.id}
              className={css.share}
              data-kind={share.kind}
              title={`${share.label}: ${gib(share.bytes)}`}
              style={{ width: `${(share.bytes / picture.total) * 100}%` }}
            />
          ))}
        </Meter.Track>
      </Meter.Root>
      <ul className={css.legend}>
        {picture.shares.map((share) => (
          <li key={share.id}>
            <i data-kind={share.kind} />
            {share.label} <b>{gib(share.bytes)}</b>
          </li>
        ))}
        <li>
          <i data-kind="free" />
          free <b>{gib(picture.free)}</b>
        </li>
      </ul>
    </>
  );
}
