import { GatewayError } from '../contract/errors.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { Embedder } from '../memory/embedder.ts';
import type { Slots } from '../slots/slots.ts';
import { asList, asObject } from './dialects/json.ts';
import { isLoaded } from './dispatch/routing-view.ts';
import { decodeName } from './forward/headers.ts';
import type { Internal } from './internal.ts';
import { wholeJson } from './internal-read.ts';

/** The slot for a request without a model. */
const SLOT = 'embed';
const MAX_BYTES = 32 * 1024 * 1024;

/** Creates embeddings of memories with slot `embed`, through the same route as all callers. */
export function memoryEmbedder(internal: Internal, slots: Pick<Slots, 'get'>): Embedder {
  return {
    current() {
      const slot = slots.get(SLOT);
      if (!slot?.enabled || slot.type !== 'embedding' || slot.model === null) return null;
      return { model: slot.model, loaded: isLoaded(slot) };
    },
    async embed({ texts, tier, signal, limitMs, background }) {
      const response = await internal({
        id: newRequestId(),
        path: '/v1/embeddings',
        tier,
        body: Buffer.from(JSON.stringify({ model: SLOT, input: texts, encoding_format: 'float' })),
        priority: background ? 'batch' : 'interactive',
        signal,
        limitMs,
      });
      const reply = asObject(await wholeJson(response, MAX_BYTES));
      const vectors = asList(reply?.data).map((each) => asList(asObject(each)?.embedding));
      if (vectors.length !== texts.length)
        throw new GatewayError('upstream.error', {
          message: 'The engine made other vectors than it was requested for.',
        });
      return { model: decodeName(response.headers['x-svc-model'] ?? SLOT), vectors };
    },
  };
}
