import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { conversationText } from '../../../daemon/contract/conversation-texts.ts';
import type { RequestDetailView, RequestTraceView } from '../../../daemon/contract/system.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Note } from '../../ui/note.tsx';
import css from './requests.module.css';
import { RoutingSteps } from './routing-steps.tsx';
import { beforeWords, placeWords, ruleWords } from './routing-words.ts';

/** The routing decision as of now, for a request whose steps were not stored. */
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
            The steps for the same request now; slots and upstreams may have been different then.
          </p>
          <RoutingSteps steps={explained.steps} placed={explained.error === null} />
        </>
      )}
    </Loaded>
  );
}

function RecordedSteps(props: { story: RequestTraceView; placed: boolean }): ReactElement {
  const { story } = props;
  return (
    <>
      {story.before.map((left) => (
        <p key={`${left.slot} ${left.upstream}`} className={css.soft}>
          {beforeWords(left)}
        </p>
      ))}
      {story.conversation === null ? null : <p>{conversationText(story.conversation)}</p>}
      {story.degraded === null ? null : (
        <Note tone="attention">
          <p>Served in a degraded state: {story.degraded}</p>
        </Note>
      )}
      {story.steps.length === 0 ? (
        <p className={css.soft}>The request ended before it was routed.</p>
      ) : (
        <RoutingSteps steps={story.steps} placed={props.placed} />
      )}
    </>
  );
}

/** The routing of a request as it was recorded. */
export function Routing(props: { request: RequestDetailView }): ReactElement {
  const { request } = props;
  const { asked: requested, model, route, story } = request;
  const name = requested ?? model;
  const rule = story === null ? null : ruleWords(story, requested);
  const again = new URLSearchParams({ path: route, ...(name === null ? {} : { model: name }) });
  return (
    <section className={css.part} aria-label="Routing">
      <h3>Routing</h3>
      <p>
        {rule} {placeWords(request)}
      </p>
      {story !== null ? <RecordedSteps story={story} placed={request.step !== null} /> : null}
      {story === null && model !== null ? <Replay path={route} model={model} /> : null}
      <p className={css.soft}>
        <Link href={`/requests/explain?${again}`}>Explain routing now</Link>
      </p>
    </section>
  );
}
