import type { UpstreamCall, UpstreamState } from '../../upstreams/port.ts';
import { NO_NAMES } from '../dispatch/configured-names.ts';
import type { RoutingView } from '../dispatch/routing-view.ts';
import type { RegisteredModelLike } from '../ports.ts';

/** Builders for tests: a model, an upstream and a routing view with defaults. */
export function registeredModel(more: Partial<RegisteredModelLike> & { id: string }): RegisteredModelLike {
  return {
    name: more.id,
    type: 'llm',
    format: 'gguf',
    context_length: 8192,
    enable_thinking: null,
    demo: false,
    binding: null,
    created: 1_700_000_000,
    ...more,
  };
}

export function upstreamConfigOf(
  more: Partial<Omit<UpstreamState, 'models'>> & { name: string; models?: readonly string[] },
): UpstreamState {
  const models = (more.models ?? []).map((id) => ({ id, type: null, context: null, created: null }));
  const failingModels = new Set<string>();
  return {
    remote: true,
    isHealthy: true,
    isBusy: false,
    failingModels,
    isSpendGuarded: true,
    hasScore: true,
    priority: 0,
    weight: 1,
    active: 0,
    turn: 0,
    isListRecent: true,
    isCold: false,
    ...more,
    models,
  };
}

export function upstreamCall(more: Partial<UpstreamCall> & { origin: string }): UpstreamCall {
  return {
    base: '/v1',
    headers: {},
    nativeRerank: false,
    rawRerank: false,
    rerankApi: 'common',
    hasScore: false,
    countPath: undefined,
    streamUsage: true,
    sendsAppName: false,
    continuesOnRequest: false,
    remote: true,
    connectMs: null,
    idleMs: null,
    onResponse: () => {},
    onData: () => {},
    onDown: () => {},
    onEnd: () => {},
    ...more,
  };
}

export function routingView(more: Partial<RoutingView> = {}): RoutingView {
  return {
    ...{ slots: [], disabledSlots: [], models: [], upstreams: [], npuSuffix: 'flm', names: NO_NAMES },
    coldListsFetched: false,
    ...more,
  };
}
