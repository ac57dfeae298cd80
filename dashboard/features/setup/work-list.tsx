import { type ReactElement, useEffect, useRef } from 'react';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { Button } from '../../ui/button.tsx';
import { byteSize, duration } from '../../ui/format.ts';
import { ShareBar } from '../../ui/share-bar.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import css from './setup.module.css';
import { paceWord, phaseWord, shareOf } from './setup-words.ts';
import { useApply } from './use-setup.ts';

type Work = SetupView['work'][number];

const TONES: Record<Work['phase'], Tone> = {
  asking: 'busy',
  pulling: 'busy',
  loading: 'busy',
  ready: 'ok',
  failed: 'failed',
};

function Fetched(props: { pull: NonNullable<Work['pull']> }): ReactElement {
  const { bytes, total, speed, eta_s: left } = props.pull;
  const pace = speed === null ? '' : ` · ${paceWord(speed)}`;
  const rest = left === null ? '' : ` · ${duration(left * 1000)} left`;
  return (
    <span className={css.soft}>
      {byteSize(bytes)} of {byteSize(total)}
      {pace}
      {rest}
    </span>
  );
}

function Row(props: { work: Work; onRetry: () => void; busy: boolean }): ReactElement {
  const { work } = props;
  const share = shareOf(work);
  return (
    <li className={css.work}>
      <div className={css.workHead}>
        <span>
          <b>{work.name}</b> <span className={css.soft}>in slot {work.slot}</span>
        </span>
        <State tone={TONES[work.phase]}>{phaseWord(work)}</State>
      </div>
      {share === null ? null : (
        <ShareBar label={`${phaseWord(work)}: ${work.name}`} value={Math.round(share)} />
      )}
      {work.phase === 'pulling' && work.pull !== null ? <Fetched pull={work.pull} /> : null}
      {work.error === null ? null : (
        <div className={css.fault}>
          <p>{work.error.message}</p>
          <Button busy={props.busy} onClick={props.onRetry}>
            Try again<span className="hidden-visually"> with {work.name}</span>
          </Button>
        </div>
      )}
    </li>
  );
}

/** Progress of the downloads and loads that setup started. They continue without this page. */
export function WorkList(props: { work: readonly Work[] }): ReactElement {
  const apply = useApply();
  const list = useRef<HTMLUListElement>(null);
  // The button that starts the work is below this list.
  useEffect(() => {
    list.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const open = props.work.some(({ phase }) => phase !== 'ready' && phase !== 'failed');
  return (
    <>
      <ul ref={list} className={css.works} aria-label="Model downloads">
        {props.work.map((work) => (
          <Row
            key={work.slot}
            work={work}
            busy={apply.isPending}
            onRetry={() => apply.mutate({ models: [{ slot: work.slot, model: work.model }] })}
          />
        ))}
      </ul>
      {open ? (
        <p className={css.soft}>Downloads continue if you close this page or restart the gateway.</p>
      ) : null}
    </>
  );
}
