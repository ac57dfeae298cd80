import type { RouteId } from './routes.ts';

const LINES = 'number of past lines, 0 to 1000 (200)';
const FOLLOW = 'whether to keep the stream open for new lines (true)';
const WAIT = 'whether to respond after the action has finished; false responds 202 at once (true)';

/** Query parameters of a route, each with its default. */
export const QUERIES: Partial<Record<RouteId, Readonly<Record<string, string>>>> = {
  'v1.models': {
    show_all: 'true or 1 includes image, tts and stt models',
    owned_by: 'comma-separated owners to include',
    client_version: 'adds `models`, the catalogue of Codex',
    limit: 'with the header anthropic-version: models of a page, 1 to 1000 (1000)',
    after_id: 'with the header anthropic-version: id of the last model of the page before',
    before_id: 'with the header anthropic-version: id of the first model of the page after',
  },
  'v1.realtime': {
    model: 'chat model, or with intent=transcription the speech-to-text model',
    intent: 'transcription for a session without spoken replies',
  },
  'v1.audio.voices': { model: 'id of a model; only its voices are listed' },
  'model.search': { q: 'search text' },
  'model.choices': { repo: 'owner/name on the hub' },
  usage: { days: 'number of days, including today, 1 to 366 (30)' },
  'slot.load': { wait: WAIT },
  'slot.unload': { wait: WAIT },
  'slot.restart': { wait: WAIT },
  'slot.swap': { wait: WAIT },
  'slot.logs': { lines: LINES, follow: FOLLOW },
  'slot.plan': { model_id: 'id of a model to plan for, instead of the model of the slot' },
  'kv-cache.clear': { model: 'id of a model; only its states are deleted' },
  audit: { limit: 'number of entries, 1 to 1000 (200)', before: 'id of the last entry on the previous page' },
  requests: {
    state: 'running or done (both)',
    limit: 'number of requests per state, 1 to 1000 (200)',
    before: 'id of the last request on the previous page; returns finished requests only',
  },
  logs: { level: 'minimum level (all logged lines)', lines: LINES, follow: FOLLOW },
  'memory.delete.all': { confirm: 'must be all' },
  'memory.list': { offset: 'number of memories to skip (0)' },
};
