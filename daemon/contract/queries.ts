import type { RouteId } from './routes.ts';

const LINES = 'lines of the past, 0 to 1000 (200)';
const FOLLOW = 'false ends the stream after the past lines (true)';
const WAIT = 'false responds 202 as soon as the action has started (true)';

/** Query parameters of a route, each with its default. */
export const QUERIES: Partial<Record<RouteId, Readonly<Record<string, string>>>> = {
  'v1.models': {
    show_all: 'true or 1 shows image, tts and stt models too',
    owned_by: 'names of owners, separated by commas',
    client_version: 'adds `models`, the catalogue of Codex',
    limit: 'with the header anthropic-version: models of a page, 1 to 1000 (1000)',
    after_id: 'with the header anthropic-version: id of the last model of the page before',
    before_id: 'with the header anthropic-version: id of the first model of the page after',
  },
  'v1.realtime': {
    model: 'the model that speaks, or with intent=transcription the one that listens',
    intent: 'transcription for a session that only listens',
  },
  'v1.audio.voices': { model: 'only the voices of this model' },
  'model.search': { q: 'search text' },
  usage: { days: 'days back, today included, 1 to 366 (30)' },
  'slot.load': { wait: WAIT },
  'slot.unload': { wait: WAIT },
  'slot.restart': { wait: WAIT },
  'slot.swap': { wait: WAIT },
  'slot.logs': { lines: LINES, follow: FOLLOW },
  'slot.plan': { model_id: 'another model than the one of the slot' },
  audit: { limit: 'entries, 1 to 1000 (200)', before: 'id of the last entry of the page before' },
  requests: {
    state: 'running or done (both)',
    limit: 'rows of each kind, 1 to 1000 (200)',
    before: 'id of the last request of the page before; gives ended ones only',
  },
  logs: { level: 'least severe level (all that is logged)', lines: LINES, follow: FOLLOW },
  'memory.delete.all': { confirm: 'must be all' },
  'memory.list': { offset: 'memories to leave out (0)' },
};
