import type { UpstreamKind } from '../contract/upstreams.ts';
import type { UpstreamModel } from './model-list.ts';

/**
 * How a server ranks documents. `common`: the fields that Jina, llama-server and vLLM share. `tei`: path and fields of
 * TEI. `score`: by `/v1/score` only, as Ray Serve LLM does.
 */
export type RerankApi = 'common' | 'tei' | 'score';

/** How an upstream ranks and scores texts. */
export interface RankingSupport {
  /** It reranks under the native path only. */
  readonly nativeRerank: boolean;
  /** Its rerank scores are the raw output of the model, unless they are from 0 to 1. */
  readonly rawRerank: boolean;
  readonly rerankApi: RerankApi;
  /** It has `/v1/score`, as far as its kind says. */
  readonly hasScore: boolean;
}

const COMMON = { nativeRerank: false, rawRerank: false, rerankApi: 'common', hasScore: true } as const;

const BY_KIND: Readonly<Record<UpstreamKind, RankingSupport>> = {
  openai: COMMON,
  svc: COMMON,
  vllm: { ...COMMON, nativeRerank: true },
  'llama-server': { ...COMMON, nativeRerank: true, rawRerank: true, hasScore: false },
  tei: { ...COMMON, rerankApi: 'tei', hasScore: false },
};

/** Returns how an upstream of this kind ranks texts with a model of its list. */
export function rankingSupport(kind: UpstreamKind, model: UpstreamModel | undefined): RankingSupport {
  const support = BY_KIND[kind];
  return kind === 'vllm' && model?.isRayServe ? { ...support, rerankApi: 'score' } : support;
}
