import { engineOf } from '../../slots/engines/table.ts';
import type { Walk } from '../call.ts';
import type { Connection } from '../connect.ts';
import type { Decision } from '../dispatch/dispatch.ts';
import { modelOf, scanBody } from '../rewrite/body-index.ts';
import { rewriteModel } from '../rewrite/deviations.ts';
import type { InferenceCall } from '../serve.ts';
import type { Prepared, Reading } from '../tasks.ts';
import { RemadeAnswer } from '../transform-response.ts';
import { rankingOf } from './ranking.ts';
import { rerankAsk, rerankBody } from './rerank-ask.ts';

/** Rerank: the model is read at once, everything else when it is known who serves it. */
export function readRerank({ body }: InferenceCall): Reading {
  const picture = scanBody(body);
  const asked = modelOf(picture);
  return {
    model: asked,
    stream: false,
    omni: false,
    body: (_, model) => rewriteModel(picture, asked, model),
  };
}

/** Our own engine speaks the one shape; every other one is asked in words that it knows, and its answer made into that shape. */
export async function prepareRerank(on: Walk, { body }: Reading, { target }: Decision): Promise<Prepared> {
  const engine = target.kind === 'slot' ? engineOf(on.deps.slots.get(target.slot)?.engine ?? '') : undefined;
  if (engine?.exact) return { body, sink: () => null };
  const { answer, life, call } = on;
  const ask = rerankAsk(call.body);
  return {
    body: ({ teiRerank }, model) => rerankBody(ask, model, teiRerank ? 'tei' : 'common'),
    sink: ({ model }) => new RemadeAnswer({ answer, life, remake: (bytes) => rankingOf(bytes, ask, model) }),
  };
}

/** TEI reranks under one path at its root. */
export const placeOfRerank = ({ teiRerank }: Pick<Connection, 'teiRerank'>): string | undefined =>
  teiRerank ? '/rerank' : undefined;
