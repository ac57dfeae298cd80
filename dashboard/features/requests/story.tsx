import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useRef } from 'react';
import { Link } from 'wouter';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { call } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import { Copy } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { moment } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { Cancel } from './cancel.tsx';
import { Ladder, stepWord } from './ladder.tsx';
import { errorWords, requestLook } from './request-look.ts';
import css from './requests.module.css';
import { Timeline } from './timeline.tsx';

function Replay(props: { path: string; model: string }): ReactElement {
  const { path, model } = props;
  const replay = useQuery({
    queryKey: keyOf('dispatch.explain', path, model),
    queryFn: ({ signal }) => call('dispatch.explain', { body: { path, model }, signal }),
    staleTime: 10_000,
  });
  return (
    <Loaded query={replay} what="the steps" lines={5}>
      {(explained) => (
        <>
          <p className={css.soft}>
            The steps as they would go for the same request now; slots and upstreams may have been different
            then.
          </p>
          <Ladder steps={explained.steps} />
        </>
      )}
    </Loaded>
  );
}

function Route(props: { request: RequestRecord }): ReactElement {
  const { request } = props;
  const taken = request.step === null ? null : stepWord(request.step);
  return (
    <section className={css.part} aria-label="How it found its place">
      <h3>How it found its place</h3>
      <p>
        {taken === null ? 'No step took it.' : `It was taken by the step “${taken}”`}
        {request.slot === null ? '' : ` and served by slot ${request.slot}`}
        {request.upstream === null ? '' : ` and sent to upstream ${request.upstream}`}
        {taken === null ? '' : '.'}
      </p>
      {request.model === null ? (
        <p className={css.soft}>
          The name that was asked for is not kept, so the steps cannot be replayed here.{' '}
          <Link href={`/requests/explain?path=${encodeURIComponent(request.route)}`}>Explain it by hand</Link>
          .
        </p>
      ) : (
        <Replay path={request.route} model={request.model} />
      )}
    </section>
  );
}

function Id(props: { id: string }): ReactElement {
  const shown = useRef<HTMLElement>(null);
  return (
    <span className={css.id}>
      <code ref={shown}>{props.id}</code>
      <Copy text={props.id} shown={shown} what="the request id" />
    </span>
  );
}

function Whole(props: { request: RequestRecord }): ReactElement {
  const { request } = props;
  const look = requestLook(request);
  return (
    <>
      <div className={css.storyHead}>
        <Badge tone={look.tone}>{look.word}</Badge>
        {request.state === 'running' ? <Cancel request={request} /> : null}
      </div>
      {request.error === null ? null : (
        <Note tone="failed">
          <p>{errorWords(request.error)}</p>
        </Note>
      )}
      <Facts
        rows={[
          ['When', moment(Date.parse(request.at))],
          ['Route', <code key="route">{request.route}</code>],
          ['Model', request.model ?? 'none, or none that is known'],
          ['Caller', request.tier === 'anon' ? 'without a key' : `with the ${request.tier} key`],
          ['Request id', <Id key="id" id={request.id} />],
        ]}
      />
      <section className={css.part} aria-label="How long it took">
        <h3>How long it took</h3>
        <Timeline request={request} />
      </section>
      <Route request={request} />
    </>
  );
}

/** The whole story of one request. */
export function Story(props: { id: string; onClose: () => void }): ReactElement {
  const request = useQuery(queries.request(props.id));
  return (
    <Sheet title="One request" onClose={props.onClose}>
      <Loaded query={request} what="the request" lines={8}>
        {(data) => <Whole request={data} />}
      </Loaded>
    </Sheet>
  );
}
