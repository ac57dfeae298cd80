import { engineOf } from '../../slots/engines/table.ts';
import type {
  CallContext,
  Connection,
  InferenceCall,
  ParsedRequest,
  PreparedRequest,
} from '../call-context.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { underBase } from '../forward/outgoing-path.ts';
import { modelOf, scanBody } from '../rewrite/body-index.ts';
import { rewriteModel } from '../rewrite/deviations.ts';
import { slotView } from '../slot-view.ts';
import { TransformedResponse } from '../transform-response.ts';
import { rankingOf } from './ranking.ts';
import { parseRerankRequest, rerankBody } from './rerank-request.ts';

/** Parses rerank: the model immediately, everything else when the target is known. */
export function readRerank({ body }: InferenceCall): ParsedRequest {
  const index = scanBody(body);
  const requested = modelOf(index);
  return {
    model: requested,
    stream: false,
    omni: false,
    body: (_, model) => rewriteModel(index, requested, model),
  };
}

/**
 * Our own engine uses the common shape. Requests to other engines are converted to their format, and
 * their responses back.
 */
export async function prepareRerank(
  ctx: CallContext,
  { body }: ParsedRequest,
  { target }: Decision,
): Promise<PreparedRequest> {
  const engine =
    target.kind === 'slot' ? engineOf(slotView(ctx.deps.slots, target.slot)?.engine ?? '') : undefined;
  if (engine?.exact) return { body, sink: () => null };
  const { response, scope, call } = ctx;
  const request = parseRerankRequest(call.body);
  return {
    body: ({ rerankApi }, model) => rerankBody(request, model, rerankApi),
    sink: ({ model, rawRerank }) =>
      new TransformedResponse({
        response,
        scope,
        transform: (bytes) => rankingOf(bytes, request, model, rawRerank),
      }),
  };
}

/** TEI reranks under one path at its root, Ray Serve LLM by scores. */
export function rerankPath({ base, rerankApi }: Pick<Connection, 'base' | 'rerankApi'>): string | undefined {
  if (rerankApi === 'tei') return '/rerank';
  return rerankApi === 'score' ? underBase(base, '/v1/score') : undefined;
}
