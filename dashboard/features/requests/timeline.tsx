import type { ReactElement } from 'react';
import type { RequestDetailView } from '../../../daemon/contract/system.ts';
import { lacksTokenCounts } from '../../../daemon/contract/token-counts.ts';
import { count, duration, steadyDuration, tokenRate } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { Facts } from '../../ui/property-list.tsx';
import { timesOf } from './request-badge.ts';
import css from './requests.module.css';
import { firstOutput, waitRows } from './routing-words.ts';

const tokens = (many: number): string => `${count(many)} ${many === 1 ? 'token' : 'tokens'}`;

/** Returns a token count; null for a request that has none by its nature. */
function tokensText(request: RequestDetailView, many: number | null): string | null {
  if (many !== null) return tokens(many);
  return lacksTokenCounts(request) ? 'unknown number of tokens' : null;
}

function Running(props: { at: number }): ReactElement {
  const now = useNow();
  return <p>Running for {steadyDuration(Math.max(0, now - props.at))}.</p>;
}

/** Time to first token and generation time, as a bar and in numbers. */
export function Timeline(props: { request: RequestDetailView }): ReactElement {
  const { request } = props;
  const { total, first, rest, rate } = timesOf(request);
  const what = firstOutput(request.route);
  const share = total === null || first === null || total <= 0 ? null : Math.min(1, first / total);
  return (
    <div className={css.timeline}>
      {request.state === 'running' ? <Running at={Date.parse(request.at)} /> : null}
      {share === null ? null : (
        <div className={css.bar} aria-hidden="true">
          <span data-part="wait" style={{ width: `${share * 100}%` }} />
          <span data-part="answer" style={{ width: `${(1 - share) * 100}%` }} />
        </div>
      )}
      <Facts
        wide
        rows={[
          ...waitRows(request.story?.waits ?? null),
          [`Time to first ${what}`, first === null ? null : duration(first)],
          ['Generation', rest === null ? null : duration(rest)],
          ['Total', total === null ? null : duration(total)],
          ['Prompt', tokensText(request, request.prompt_tokens)],
          ['Answer', tokensText(request, request.completion_tokens)],
          ['Speed', rate === null ? null : tokenRate(rate)],
        ]}
      />
      {first === null ? null : (
        <p className={css.soft}>The time to first {what} includes queueing and loading.</p>
      )}
    </div>
  );
}
