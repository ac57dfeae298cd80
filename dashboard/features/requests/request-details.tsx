import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useRef } from 'react';
import type { RequestWholeView } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { Code } from '../../ui/code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { moment } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { Cancel } from './cancel.tsx';
import { errorAdvice, errorMessage, requestBadge } from './request-badge.ts';
import css from './requests.module.css';
import { NoRoute } from './resolution.tsx';
import { Routing } from './routing.tsx';
import { Timeline } from './timeline.tsx';

function Id(props: { id: string }): ReactElement {
  const shown = useRef<HTMLElement>(null);
  return (
    <span className={css.id}>
      <code ref={shown}>{props.id}</code>
      <Copy text={props.id} shown={shown} what="the request id" />
    </span>
  );
}

function Texts(props: { bodies: RequestWholeView['bodies'] }): ReactElement | null {
  const { request = null, answer = null } = props.bodies ?? {};
  if (request === null && answer === null) return null;
  return (
    <section className={css.part} aria-label="Content">
      <h3>Content</h3>
      {request === null ? null : <Code title="Request" what="the request body" text={request} />}
      {answer === null ? null : <Code title="Response" what="the response body" text={answer} />}
    </section>
  );
}

/** The error message of the catalogue and the next step. */
function Fault(props: { code: string }): ReactElement {
  const { code } = props;
  const advice = errorAdvice(code);
  return (
    <Note tone="failed">
      <p>
        {errorMessage(code)} <code>{code}</code>
      </p>
      {advice === null ? null : <p>{advice}</p>}
      {code === 'dispatch.no_route' ? <NoRoute /> : null}
    </Note>
  );
}

function Whole(props: { request: RequestWholeView }): ReactElement {
  const { request } = props;
  const badge = requestBadge(request);
  return (
    <>
      <div className={css.storyHead}>
        <Badge tone={badge.tone}>{badge.word}</Badge>
        {request.state === 'running' ? <Cancel request={request} /> : null}
      </div>
      {request.error === null ? null : <Fault code={request.error} />}
      <Facts
        rows={[
          ['When', moment(Date.parse(request.at))],
          ['Route', <code key="route">{request.route}</code>],
          ['Requested model', request.asked ?? 'none'],
          ['Model', request.model ?? 'unknown'],
          ['Key', request.tier === 'anon' ? 'none' : `${request.tier} key`],
          ['Request id', <Id key="id" id={request.id} />],
        ]}
      />
      <section className={css.part} aria-label="Timing">
        <h3>Timing</h3>
        <Timeline request={request} />
      </section>
      <Routing request={request} />
      <Texts bodies={request.bodies} />
    </>
  );
}

/** The details of one request. */
export function RequestDetails(props: { id: string; onClose: () => void }): ReactElement {
  const request = useQuery(queries.request(props.id));
  return (
    <Sheet title="Request details" onClose={props.onClose}>
      <Loaded query={request} what="the request" lines={8}>
        {(data) => <Whole request={data} />}
      </Loaded>
    </Sheet>
  );
}
