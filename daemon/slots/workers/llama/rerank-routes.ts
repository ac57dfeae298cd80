import type { Handler, Routes } from '../http-server.ts';
import type { WorkerConfig } from '../protocol.ts';
import { modelList } from './model-list.ts';
import type { RerankEngine } from './rerank-engine.ts';
import { rerankRequest } from './rerank-request.ts';
import { rerankAnswer } from './rerank-response.ts';

/** Routes of a rerank worker once its model is loaded: one handler under the three paths that clients use. */
export function rerankRoutes(engine: RerankEngine, config: WorkerConfig): Routes {
  const created = Math.floor(Date.now() / 1000);
  const rerank: Handler = async (exchange) => {
    const request = rerankRequest(await exchange.body());
    const ranking = await engine.rank(request.query, request.documents, exchange.signal);
    exchange.json(200, rerankAnswer(ranking, request, config.modelId));
  };
  return {
    'GET /v1/models': async (exchange) => exchange.json(200, modelList(engine.info, config, created)),
    'POST /v1/rerank': rerank,
    'POST /v1/rerankings': rerank,
    'POST /v1/reranking': rerank,
  };
}
