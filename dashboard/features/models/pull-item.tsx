import type { ReactElement } from 'react';
import type { PullRecord } from '../../../daemon/contract/pulls.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Note } from '../../ui/note.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import { ShareBar } from '../../ui/share-bar.tsx';
import { State } from '../../ui/state-badge.tsx';
import css from './models.module.css';
import { isOpen, PULL_BADGES, progressLine, pullActions, shareOf } from './pull-state.ts';
import type { Show } from './url-state.ts';
import { useModelAction } from './use-model-action.ts';

function Trouble(props: { error: NonNullable<PullRecord['error']> }): ReactElement {
  const { code, message, advice } = props.error;
  return (
    <Note tone="failed">
      <p>
        {message === '' ? 'The download failed.' : message} <code>{code}</code>
      </p>
      {advice === null ? null : <p>{advice}</p>}
    </Note>
  );
}

function Acts(props: { pull: PullRecord; open: (show: Show, of: string) => void }): ReactElement {
  const { pull } = props;
  const pause = useModelAction('pull.pause');
  const resume = useModelAction('pull.resume');
  const actions = pullActions(pull);
  const options = { params: { id: pull.id } };
  const error = pause.error ?? resume.error;
  const whose = <span className="hidden-visually"> the download of {pull.repo}</span>;
  return (
    <>
      {error === null ? null : <Failure error={error} />}
      <div className={css.acts}>
        {actions.includes('pause') ? (
          <Button busy={pause.isPending} onClick={() => pause.mutate(options)}>
            Pause{whose}
          </Button>
        ) : null}
        {actions.includes('resume') ? (
          <Button variant="main" busy={resume.isPending} onClick={() => resume.mutate(options)}>
            Resume{whose}
          </Button>
        ) : null}
        {actions.includes('cancel') ? (
          <Button onClick={() => props.open('cancel', pull.id)}>Cancel…{whose}</Button>
        ) : null}
        {pull.state === 'done' && pull.model !== null ? (
          <Button onClick={() => props.open('details', pull.model ?? '')}>
            Show<span className="hidden-visually"> model {pull.model}</span>
          </Button>
        ) : null}
      </div>
    </>
  );
}

/** One download: its progress, its error and its actions. */
export function PullItem(props: { pull: PullRecord; open: (show: Show, of: string) => void }): ReactElement {
  const { pull } = props;
  const badge = PULL_BADGES[pull.state];
  return (
    <li className={css.item}>
      <div className={css.head}>
        <h3>
          {pull.repo}
          <span className={css.sub}>
            {pull.file}
            {pull.files > 1 ? ` · ${pull.files} files` : ''}
          </span>
        </h3>
        <span className={css.state}>
          <State tone={badge.tone}>{badge.word}</State>
          {isOpen(pull) ? null : (
            <span className={css.soft}>
              <Ago at={pull.updated} />
            </span>
          )}
        </span>
      </div>
      {isOpen(pull) ? (
        <ShareBar
          label={`Download of ${pull.repo}`}
          value={Math.floor(shareOf(pull) * 100)}
          tone={PULL_BADGES[pull.state].tone}
        />
      ) : null}
      <p className={css.numbers}>{progressLine(pull)}</p>
      {pull.retry_reason === null ? null : <Note tone="attention">{pull.retry_reason}</Note>}
      {pull.error === null ? null : <Trouble error={pull.error} />}
      <Acts pull={pull} open={props.open} />
    </li>
  );
}
