/** What differs between the kinds of upstreams. No other file compares kinds. */
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

/** What is special about an upstream of one kind. */
export interface ProviderKind {
  readonly ranking: RankingSupport;
  /** Path and query of the model list, below the base path. */
  readonly listPath: string;
  /** Another gateway of this kind: it explains its routing, and its list reports load. */
  readonly isGateway: boolean;
  /** Path below the server's root, beside `/v1`, that counts tokens. */
  readonly countPath?: string;
  /** Path below the server's root that tells whether it sleeps: its model list then responds, and calls fail. */
  readonly sleepPath?: string;
  /** It continues an answer that the caller began only when a field of the body says so. */
  readonly continuesOnRequest: boolean;
}

const RANKING = { nativeRerank: false, rawRerank: false, rerankApi: 'common', hasScore: true } as const;
const COMMON = {
  ranking: RANKING,
  listPath: '/models',
  isGateway: false,
  continuesOnRequest: false,
} as const satisfies ProviderKind;

/** The kinds of upstreams with all their special cases. */
export const PROVIDER_KINDS: Readonly<Record<UpstreamKind, ProviderKind>> = {
  openai: COMMON,
  // With `show_all`, the list has models that the other gateway hides from clients.
  svc: { ...COMMON, listPath: '/models?show_all=true', isGateway: true },
  vllm: {
    ...COMMON,
    ranking: { ...RANKING, nativeRerank: true },
    countPath: '/tokenize',
    sleepPath: '/is_sleeping',
    continuesOnRequest: true,
  },
  'llama-server': {
    ...COMMON,
    ranking: { ...RANKING, nativeRerank: true, rawRerank: true, hasScore: false },
  },
  tei: { ...COMMON, ranking: { ...RANKING, rerankApi: 'tei', hasScore: false } },
};

/** Whether a model is one of Ray Serve LLM. Lists of other kinds may have its field with another meaning. */
const isOfRayServe = (kind: UpstreamKind, model: UpstreamModel | undefined): boolean =>
  kind === 'vllm' && model?.isRayServe === true;

/** Returns how an upstream of this kind ranks texts with a model of its list. */
export function rankingSupport(kind: UpstreamKind, model: UpstreamModel | undefined): RankingSupport {
  const { ranking } = PROVIDER_KINDS[kind];
  return isOfRayServe(kind, model) ? { ...ranking, rerankApi: 'score' } : ranking;
}

/** Whether a server counts the tokens of a chat. Ray Serve LLM takes a plain prompt only, to which no template is applied. */
export const countsChats = (kind: UpstreamKind, model: UpstreamModel | undefined): boolean =>
  !isOfRayServe(kind, model);

/** Returns the path of a server without the version of its API, which a proxy may have moved to a longer path. */
export const serverRoot = (base: string): string => base.replace(/\/v1$/, '');
