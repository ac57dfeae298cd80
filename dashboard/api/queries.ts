import { type QueryKey, queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';
import type { CallableId, Responses } from './responses.ts';

/** Slow polling as a fallback; events normally report changes immediately. */
const POLL_MS = 15_000;
/** Timeout for requests that the gateway forwards to the model hub. */
const HUB_MS = 45_000;

/** Cache key of a route, followed by the parts that distinguish its requests. */
export function keyOf(id: CallableId, ...rest: readonly string[]): QueryKey {
  return [id, ...rest];
}

function read<Id extends CallableId>(id: Id, pollMs: number | false = POLL_MS) {
  return queryOptions<Responses[Id]>({
    queryKey: keyOf(id),
    queryFn: ({ signal }) => call(id, { signal }),
    refetchInterval: pollMs,
  });
}

export const queries = {
  auth: read('auth.status'),
  setup: read('setup'),
  status: read('status'),
  slots: read('slots'),
  hardware: read('hardware', 10_000),
  checks: read('health.system'),
  models: read('v1.models'),
  /** All models, including image, speech and transcription models. */
  allModels: queryOptions<Responses['v1.models']>({
    queryKey: keyOf('v1.models', 'all'),
    queryFn: ({ signal }) => call('v1.models', { query: { show_all: 'true' }, signal }),
    refetchInterval: POLL_MS,
  }),
  /** The voices of one text-to-speech model. */
  voices: (model: string) =>
    queryOptions<Responses['v1.audio.voices']>({
      queryKey: keyOf('v1.audio.voices', model),
      queryFn: ({ signal }) => call('v1.audio.voices', { query: { model }, signal }),
      staleTime: POLL_MS,
    }),
  registry: read('models', 60_000),
  agent: read('agent', 60_000),
  names: read('model.names', 60_000),
  catalog: read('model.catalog', 60_000),
  /** The models of one repository of the hub. */
  choices: (repo: string) =>
    queryOptions<Responses['model.choices']>({
      queryKey: keyOf('model.choices', repo),
      queryFn: ({ signal }) => call('model.choices', { query: { repo }, signal }, HUB_MS),
      staleTime: 5 * 60_000,
      retry: false,
    }),
  pulls: read('pulls'),
  minutes: read('usage.minutes', 30_000),
  upstreams: read('upstreams'),
  requests: read('requests'),
  audit: read('audit', 60_000),
  exposure: read('auth.exposure', false),
  urls: read('config.urls', 60_000),
  sessions: read('auth.sessions', 60_000),
  settings: read('settings', false),
  kvCache: read('kv-cache', 30_000),
  /** The launch plan of a slot, optionally with another model. */
  plan: (name: string, model: string | null = null) =>
    queryOptions<Responses['slot.plan']>({
      queryKey: keyOf('slot.plan', name, model ?? ''),
      queryFn: ({ signal }) =>
        call('slot.plan', {
          params: { name },
          signal,
          ...(model === null ? {} : { query: { model_id: model } }),
        }),
      refetchInterval: 10_000,
    }),
  /** A hub search. Fetched once; never refreshed automatically. */
  hub: (words: string) =>
    queryOptions<Responses['model.search']>({
      queryKey: keyOf('model.search', words),
      queryFn: ({ signal }) => call('model.search', { query: { q: words }, signal }, HUB_MS),
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    }),
  /** A search of the notes, best match first. */
  found: (words: string) =>
    queryOptions<Responses['memory.search']>({
      queryKey: keyOf('memory.search', words),
      queryFn: ({ signal }) => call('memory.search', { body: { query: words, limit: 100 }, signal }),
    }),
  slotSettings: (name: string) =>
    queryOptions<Responses['slot.settings']>({
      queryKey: keyOf('slot.settings', name),
      queryFn: ({ signal }) => call('slot.settings', { params: { name }, signal }),
      // A form must not change its baseline while it is open.
      refetchOnWindowFocus: false,
    }),
  upstream: (name: string) =>
    queryOptions<Responses['upstream']>({
      queryKey: keyOf('upstream', name),
      queryFn: ({ signal }) => call('upstream', { params: { name }, signal }),
    }),
  request: (id: string) =>
    queryOptions<Responses['request']>({
      queryKey: keyOf('request', id),
      queryFn: ({ signal }) => call('request', { params: { id }, signal }),
    }),
  usage: (days: number) =>
    queryOptions<Responses['usage']>({
      queryKey: keyOf('usage', String(days)),
      queryFn: ({ signal }) => call('usage', { query: { days: String(days) }, signal }),
      refetchInterval: 60_000,
    }),
} as const;
