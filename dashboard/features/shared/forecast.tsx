import type { ReactElement } from 'react';
import type { LoadForecastView } from '../../../daemon/contract/slots.ts';
import { byteSize } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import css from './forecast.module.css';
import { forecastSentence, STAYS, sumLines } from './forecast.ts';

function Victims(props: { forecast: LoadForecastView }): ReactElement | null {
  const { evicts, sum } = props.forecast;
  if (sum.victims.length === 0) return null;
  return (
    <div>
      <p className={css.heading}>In use by</p>
      <ul className={css.victims}>
        {sum.victims.map((victim) => (
          <li key={victim.slot}>
            <b>{victim.slot}</b>
            <span>
              {evicts.includes(victim.slot) ? 'will be unloaded' : 'stays loaded'}
              {victim.stays === null ? '' : `: ${STAYS[victim.stays]}`}
            </span>
            <span className={css.bytes}>{byteSize(victim.bytes)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The effect of a load on other slots, with the memory sum behind it. */
export function Forecast(props: { forecast: LoadForecastView }): ReactElement {
  const { tone, text } = forecastSentence(props.forecast);
  return (
    <div className={css.forecast}>
      <Note tone={tone}>
        <p>{text}</p>
      </Note>
      <div className={css.columns}>
        <div>
          <p className={css.heading}>
            Memory of pool <code>{props.forecast.sum.pool}</code>
          </p>
          <dl className={css.sum}>
            {sumLines(props.forecast.sum).map((line) => (
              <div key={line.name} data-sign={line.sign}>
                <dt>{line.name}</dt>
                <dd className={css.bytes}>
                  {line.sign === '−' ? '− ' : ''}
                  {byteSize(line.bytes)}
                </dd>
              </div>
            ))}
          </dl>
        </div>
        <Victims forecast={props.forecast} />
      </div>
    </div>
  );
}
