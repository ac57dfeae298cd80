import type { Routes } from '../http-server.ts';
import type { WorkerConfig } from '../protocol.ts';
import { invalidField } from '../refusal.ts';
import type { EmbeddingEngine, Embeddings } from './embedding-engine.ts';
import { type EmbeddingRequest, embeddingRequest } from './embedding-request.ts';
import { toBase64, toNumbers } from './embedding-vector.ts';
import { modelList } from './model-list.ts';

/** Routes of an embedding worker once its model is loaded. */
export function embeddingRoutes(engine: EmbeddingEngine, config: WorkerConfig): Routes {
  const created = Math.floor(Date.now() / 1000);
  return {
    'GET /v1/models': async (exchange) => exchange.json(200, modelList(engine.info, config, created)),
    'POST /v1/embeddings': async (exchange) => {
      const request = embeddingRequest(await exchange.body());
      refuseOtherLength(request.dimensions, engine.dimensions);
      const embeddings = await engine.embed(request.inputs, exchange.signal);
      exchange.json(200, embeddingAnswer(embeddings, request.format, config.modelId));
    },
  };
}

/**
 * Refuses another vector length. Truncation is correct only for models trained for it, and the file header
 * does not say which were.
 */
export function refuseOtherLength(requested: number | null, own: number): void {
  if (requested === null || requested === own) return;
  throw invalidField('dimensions', `dimensions: this model supports ${own} only, not ${requested}`);
}

/**
 * OpenAI's list in the order of the texts. The counts come last, where readers of the end of a response find
 * them.
 */
export function embeddingAnswer(
  { vectors, tokens }: Embeddings,
  format: EmbeddingRequest['format'],
  model: string,
): object {
  const encode = format === 'base64' ? toBase64 : toNumbers;
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}
