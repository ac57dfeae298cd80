import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useRef } from 'react';
import { Link } from 'wouter';
import { ADDRESS_WORDS, appName } from '../../../daemon/contract/caller-info.ts';
import { requestOutcome } from '../../../daemon/contract/request-outcome.ts';
import type { RequestWholeView } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { moment } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { Badge } from '../../ui/state-badge.tsx';
import { isAccessRefusal } from './caller-words.ts';
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

/** Where the cause of a failure can be seen, and where it can be tried again. */
function NextSteps(props: { request: RequestWholeView; code: string }): ReactElement | null {
  const { request, code } = props;
  if (code === 'dispatch.no_route') return <NoRoute />;
  const slot = request.slot ?? request.story?.lane ?? null;
  if (slot !== null && requestOutcome(request) === 'failed') {
    const name = encodeURIComponent(slot);
    return (
      <p className={css.steps}>
        <Link className={buttonClass()} href={`/slots?slot=${name}&show=log`}>
          Open log of {slot}
        </Link>
        <Link className={buttonClass()} href={`/slots?slot=${name}&show=load`}>
          Load {slot}…
        </Link>
      </p>
    );
  }
  if (request.upstream !== null && requestOutcome(request) === 'failed') {
    return (
      <p className={css.steps}>
        <Link
          className={buttonClass()}
          href={`/slots/upstreams?upstream=${encodeURIComponent(request.upstream)}&show=test`}
        >
          Test {request.upstream}
        </Link>
      </p>
    );
  }
  return code === 'auth.origin_forbidden' ? (
    <p>
      <Link href="/security/posture">Allow this page under Security</Link>
    </p>
  ) : null;
}

/** The message that the caller received, its reason and the next step. */
function Fault(props: { request: RequestWholeView; code: string }): ReactElement {
  const { request, code } = props;
  const advice = errorAdvice(code);
  const message = request.message ?? errorMessage(code);
  const isRepeated = message !== null && request.reason !== null && message.includes(request.reason);
  return (
    <Note tone="failed">
      <p>
        {message} <code>{code}</code>
      </p>
      {request.reason === null || isRepeated ? null : <p>Reason: {request.reason}</p>}
      {advice === null ? null : <p>{advice}</p>}
      <NextSteps request={request} code={code} />
    </Note>
  );
}

/** The key that the request had; of a refused one only that none was accepted. */
function keyWords(request: RequestWholeView): string {
  if (isAccessRefusal(request)) return 'none accepted';
  return request.tier === 'anon' ? 'none' : `${request.tier} key`;
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
      {request.error === null ? null : <Fault request={request} code={request.error} />}
      <Facts
        rows={[
          ['When', moment(Date.parse(request.at))],
          ['Route', <code key="route">{request.route}</code>],
          ['Requested model', isAccessRefusal(request) ? null : (request.asked ?? 'none')],
          ['Model', isAccessRefusal(request) ? null : (request.model ?? 'unknown')],
          ['App', appName(request)],
          ['User-Agent', request.user_agent === null ? null : <code key="agent">{request.user_agent}</code>],
          ['From', request.address === null ? null : ADDRESS_WORDS[request.address]],
          ['Key', keyWords(request)],
          ['Request id', <Id key="id" id={request.id} />],
        ]}
      />
      {isAccessRefusal(request) ? null : (
        <>
          <section className={css.part} aria-label="Timing">
            <h3>Timing</h3>
            <Timeline request={request} />
          </section>
          <Routing request={request} />
        </>
      )}
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
