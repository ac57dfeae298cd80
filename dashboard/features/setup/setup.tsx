import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { queries } from '../../api/queries.ts';
import { useTitle } from '../../app/title.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { ViewHead } from '../../ui/view-head.tsx';
import { KeyStep } from './key-step.tsx';
import { ModelsStep } from './models-step.tsx';
import { ReachStep } from './reach-step.tsx';
import css from './setup.module.css';
import { isClosed } from './setup-words.ts';
import { useApply } from './use-setup.ts';

/** Model loads emit no event that this page subscribes to, so it polls while one is running. */
const POLL_MS = 2_000;
const isInProgress = (view: SetupView | undefined): boolean =>
  view !== undefined &&
  (view.set === null || view.work.some(({ phase }) => phase !== 'ready' && phase !== 'failed'));

function End(props: { view: SetupView }): ReactElement {
  const { view } = props;
  const [, go] = useLocation();
  const end = useApply(() => go('/overview'));
  const failed = view.work.some(({ phase }) => phase === 'failed');
  const complete = !failed && view.steps.every(({ state }) => state !== 'open');
  const canChat =
    view.real_model || view.work.some(({ slot, phase }) => slot === 'agent' && phase === 'ready');
  return (
    <div className={css.end}>
      {end.isError ? <Failure error={end.error} /> : null}
      <div className={css.endActs}>
        <Button
          variant={complete ? 'main' : 'plain'}
          busy={end.isPending}
          onClick={() => end.mutate({ finished: true })}
        >
          {complete ? 'Done' : 'Do this later'}
        </Button>
        {canChat && !isClosed(view) ? (
          <Link className={buttonClass()} href="/playground">
            Start a chat
          </Link>
        ) : null}
      </div>
      <p className={css.soft}>
        You can come back any time at <code>/setup</code>.
      </p>
    </div>
  );
}

/** The first page of a fresh install: three steps that can be skipped and reopened. */
export function Setup(): ReactElement {
  useTitle('Setup');
  const query = useQuery({
    ...queries.setup,
    refetchInterval: ({ state }) => (isInProgress(state.data) ? POLL_MS : 15_000),
  });
  return (
    <div className={css.view}>
      <ViewHead title="Gateway setup" />
      <Loaded query={query} what="the setup" lines={6}>
        {(view) => (
          <>
            <p className={css.soft}>Three short steps. You can skip any of them; your progress is saved.</p>
            {isClosed(view) ? (
              <Note tone="failed">
                <p>
                  The gateway is closed: keys are required, but no admin key is set. Your choices here still
                  take effect; set the key (step 3) to use the gateway.
                </p>
              </Note>
            ) : null}
            <ol className={css.steps}>
              <ModelsStep view={view} number={1} />
              <ReachStep view={view} number={2} />
              <KeyStep view={view} number={3} />
            </ol>
            <End view={view} />
          </>
        )}
      </Loaded>
    </div>
  );
}
