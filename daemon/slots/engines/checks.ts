import type { SlotTypeName } from '../../contract/slots.ts';
import type { Check, Launch } from './engine.ts';

type Trial = Pick<Check, 'name' | 'path' | 'body' | 'verdict'>;

function parsed(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const listIn = (body: string, key: string): unknown[] => {
  const value = parsed(body)[key];
  return Array.isArray(value) ? value : [];
};

const listed = (body: string): unknown[] =>
  listIn(body, 'data').map((entry) => (entry as { id?: unknown } | null)?.id);

const answered = (what: string, status: number): string => `${what} answered with status ${status}`;

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

function vectorIn(body: string): boolean {
  const first = listIn(body, 'data')[0] as { embedding?: unknown } | undefined;
  const vector = first?.embedding;
  return Array.isArray(vector) && vector.length > 0 && vector.every(isNumber);
}

/** Most servers use `results`, some use `data`. */
function scoreIn(body: string): boolean {
  const [first] = [...listIn(body, 'results'), ...listIn(body, 'data')];
  const { relevance_score, score } = (first ?? {}) as { relevance_score?: unknown; score?: unknown };
  return isNumber(relevance_score ?? score);
}

/**
 * One short task of each kind; an engine that cannot do it is not ready (docs/spec/contract.md#slot-ready).
 */
const TRIALS: Readonly<Partial<Record<SlotTypeName, Trial>>> = {
  llm: {
    name: 'completion',
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, temperature: 0 },
    verdict: (status, body) => {
      if (status !== 200) return answered('The trial completion', status);
      return Array.isArray(parsed(body).choices) ? null : 'The test completion has no choice';
    },
  },
  embedding: {
    name: 'embedding',
    path: '/v1/embeddings',
    body: { input: 'Hi', encoding_format: 'float' },
    verdict: (status, body) => {
      if (status !== 200) return answered('The trial embedding', status);
      return vectorIn(body) ? null : 'The test embedding has no vector';
    },
  },
  rerank: {
    name: 'rerank',
    path: '/v1/rerank',
    body: { query: 'Hi', documents: ['Hi'] },
    verdict: (status, body) => {
      if (status !== 200) return answered('The trial rerank', status);
      return scoreIn(body) ? null : 'The test rerank has no score';
    },
  },
};

const health = (path: string): Check => ({
  name: 'health',
  method: 'GET',
  path,
  limitMs: 5_000,
  verdict: (status) => (status === 200 ? null : answered('The health check', status)),
});

const models = (name: string): Check => ({
  name: 'models',
  method: 'GET',
  path: '/v1/models',
  limitMs: 5_000,
  verdict: (status, body) => {
    if (status !== 200) return answered('The model list', status);
    return listed(body).includes(name) ? null : 'The model list does not contain the model';
  },
});

function trials({ type, dialect }: Launch): Check[] {
  const trial = TRIALS[type];
  if (trial === undefined) return [];
  const named = dialect.model === null ? {} : { model: dialect.model };
  return [{ ...trial, method: 'POST', body: { ...named, ...(trial.body as object) }, limitMs: 120_000 }];
}

/** The checks that an engine supports. */
export interface AvailableChecks {
  /** Path of its health check; null when it has none. */
  readonly health: string | null;
  /** Whether its model list contains the served model. */
  readonly models: boolean;
}

/**
 * Returns the checks of a launch: health, a model list that contains the model, and one short task of the slot's
 * type where there is one.
 */
export function checksOf(launch: Launch, available: AvailableChecks): readonly Check[] {
  const name = launch.dialect.model ?? launch.modelId;
  return [
    ...(available.health === null ? [] : [health(available.health)]),
    ...(available.models ? [models(name)] : []),
    ...trials(launch),
  ];
}
