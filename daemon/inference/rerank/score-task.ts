import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import { engineOf } from '../../slots/engines/table.ts';
import type {
  CallContext,
  CallDeps,
  Connection,
  InferenceCall,
  ParsedRequest,
  PreparedRequest,
} from '../call-context.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { underBase } from '../forward/outgoing-path.ts';
import { slotView } from '../slot-view.ts';
import { TransformedResponse } from '../transform-response.ts';
import { rankingOf } from './ranking.ts';
import { rerankBody } from './rerank-request.ts';
import { readRerank, rerankPath } from './rerank-task.ts';
import { parseScoreRequest, rerankOfScore, type ScoreRequest } from './score-request.ts';

/** Parses a score request: the model immediately, everything else when the target is known. */
export const readScore = (call: InferenceCall): ParsedRequest => readRerank(call);

type ScoreTarget = Pick<Connection, 'rerankApi' | 'rawRerank' | 'hasScore' | 'upstream' | 'slot'>;

/** Whether the chosen target has `/v1/score`, as far as its engine or kind says. */
function canScore({ slots, upstreams }: CallDeps, target: Decision['target']): boolean {
  if (target.kind === 'slot') return engineOf(slotView(slots, target.slot)?.engine ?? '')?.hasScore === true;
  return upstreams.list().find(({ name }) => name === target.upstream)?.hasScore !== false;
}

/**
 * Sends the request unchanged to a server with `/v1/score`. Every other one gets a rerank request, whose results
 * become scores in the order of the texts (docs/spec/contract.md#score).
 */
export async function prepareScore(
  { response, scope, call, deps }: CallContext,
  { body }: ParsedRequest,
  { target: chosen }: Decision,
): Promise<PreparedRequest> {
  const request = parseScoreRequest(call.body);
  // Before a slot is loaded, and before the request counts against the daily limit of an upstream.
  if (!canScore(deps, chosen)) asRerank(request, { slot: null, upstream: null, ...chosen });
  return {
    body: (target, model) =>
      target.hasScore ? body(target, model) : rerankBody(asRerank(request, target), model, target.rerankApi),
    sink: (target) =>
      target.hasScore
        ? null
        : new TransformedResponse({
            response,
            scope,
            transform: (bytes) => scoresOf(bytes, request, target, target.model),
          }),
  };
}

const asRerank = (request: ScoreRequest, { upstream, slot }: Pick<ScoreTarget, 'upstream' | 'slot'>) =>
  rerankOfScore(request, upstream === null ? `Slot ${slot}` : `Upstream ${upstream}`);

/** Returns the path that scores at this target; undefined for that of the route. */
export const scorePath = (target: Pick<Connection, 'base' | 'rerankApi' | 'hasScore'>): string | undefined =>
  target.hasScore ? undefined : (rerankPath(target) ?? underBase(target.base, '/v1/rerank'));

/**
 * Converts a ranking to the answer of `/v1/score`, in the order of the texts. Throws `upstream.error` (502) when a text
 * has no score.
 */
export function scoresOf(
  bytes: Buffer,
  request: ScoreRequest,
  target: ScoreTarget,
  model: string | null,
): Buffer {
  const { documents, ...rest } = asRerank(request, target);
  const ranked = rankingOf(bytes, { ...rest, documents }, model, target.rawRerank);
  const { results, ...list } = JSON.parse(ranked.toString('utf8')) as {
    results: { index: number; relevance_score: number }[];
    model: string;
    usage: object;
  };
  if (results.length !== documents.length)
    throw new GatewayError('upstream.error', {
      message: 'The engine or upstream did not return a score for each text.',
      details: { upstream_status: 200 },
    });
  const data = results
    .sort((a, b) => a.index - b.index)
    .map(({ index, relevance_score: score }) => ({ index, object: 'score', score }));
  const created = Math.floor(Date.now() / 1000);
  const { model: name, usage } = list;
  return Buffer.from(
    JSON.stringify({ id: `score-${randomUUID()}`, object: 'list', created, model: name, data, usage }),
  );
}
