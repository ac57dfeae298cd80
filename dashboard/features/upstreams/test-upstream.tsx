import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useId, useState } from 'react';
import type { UpstreamTestView } from '../../../daemon/contract/upstreams.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { duration } from '../../ui/format.ts';
import { Sheet } from '../../ui/sheet.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { UpstreamDialogProps } from './upstream-dialog-props.ts';
import css from './upstreams.module.css';

/** A test waits as long as a real request. */
const LIMIT_MS = 120_000;
const STEPS = { models: 'Model list', chat: 'Short chat', stream: 'Stream with token counts' } as const;

function Result(props: { result: UpstreamTestView }): ReactElement {
  return (
    <ol className={css.steps} aria-label="Result of the test">
      {props.result.steps.map((step) => (
        <li key={step.step}>
          <span className={css.head}>
            <b>{STEPS[step.step]}</b>
            <State tone={step.ok ? 'ok' : 'failed'}>{step.ok ? 'Works' : 'Failed'}</State>
          </span>
          <span className={css.soft}>
            {step.status === null ? 'no response' : `status ${step.status}`}, {duration(step.ms)}
          </span>
          <span className={css.message}>{step.message}</span>
        </li>
      ))}
    </ol>
  );
}

/** Tests an upstream with real requests. */
export function TestUpstream({ upstream, onClose }: UpstreamDialogProps): ReactElement {
  const client = useQueryClient();
  const id = useId();
  const [model, setModel] = useState('');
  const test = useAction({
    send: () =>
      call(
        'upstream.test',
        { params: { name: upstream.name }, body: model.trim() === '' ? {} : { model: model.trim() } },
        LIMIT_MS,
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: keyOf('upstreams') }),
  });
  return (
    <Sheet title={`Test of upstream ${upstream.name}`} onClose={onClose}>
      <form
        className={css.test}
        onSubmit={(event) => {
          event.preventDefault();
          test.mutate();
        }}
      >
        <div className={field.field}>
          <label className={field.label} htmlFor={id}>
            Model to chat with
          </label>
          <input
            id={id}
            className={field.input}
            placeholder="none: only the model list is checked"
            autoComplete="off"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
          <p className={field.help}>A provider may charge for this short test chat.</p>
        </div>
        <Button type="submit" variant="main" busy={test.isPending}>
          Run test
        </Button>
      </form>
      <div aria-live="polite">
        {test.isPending ? <Skeleton lines={2} what="the result" /> : null}
        {test.data === undefined || test.isPending ? null : <Result result={test.data} />}
        {test.error === null ? null : <Failure error={test.error} />}
      </div>
    </Sheet>
  );
}
