import { z } from 'zod';
import { ERRORS } from '../contract/errors.ts';
import { QUERIES } from '../contract/queries.ts';
import type { RouteId, RouteKind, RouteRow } from '../contract/routes.ts';
import { REQUEST_SCHEMAS, RESPONSE_SCHEMAS } from '../contract/schemas.ts';
import { EVENT, EVENTS, V1_DOCUMENTS } from './v1-documents.ts';

type Json = Record<string, unknown>;

const ENVELOPE: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', description: `One of: ${Object.keys(ERRORS).join(', ')}` },
        message: { type: 'string' },
        advice: { type: 'string', description: 'On /api only: what the caller can do' },
        type: { type: 'string', description: 'On /v1 only' },
        param: { type: ['string', 'null'], description: 'On /v1 only: the field that is at fault' },
        details: { type: 'object' },
      },
    },
  },
};

/** `:name` and `*name` as OpenAPI writes them. */
const openApiPath = (path: string) => path.replace(/[:*]([A-Za-z_]+)/g, '{$1}');

function parameters(id: string, path: string): Json[] {
  const schema = { type: 'string' };
  const names = [...path.matchAll(/[:*]([A-Za-z_]+)/g)].map((match) => match[1]);
  const query = Object.entries(QUERIES[id as keyof typeof QUERIES] ?? {});
  return [
    ...names.map((name) => ({ name, in: 'path', required: true, schema })),
    ...query.map(([name, description]) => ({ name, in: 'query', required: false, description, schema })),
  ];
}

/** Success statuses other than 200. `?wait=false` is answered before the action has ended. */
const SUCCESSES: Partial<Record<RouteId, readonly string[]>> = {
  'slot.create': ['201'],
  'slot.load': ['200', '202'],
  'slot.unload': ['200', '202'],
  'slot.restart': ['200', '202'],
  'slot.swap': ['200', '202'],
};

/** The answer of routes that do not answer with JSON. */
const CONTENT: Partial<Record<RouteKind, Json>> = {
  sse: { [EVENTS]: { schema: EVENT } },
  text: { 'text/plain': { schema: { type: 'string' } } },
  image: { 'image/png': { schema: { type: 'string' } } },
};

/** The errors of each class of routes in addition to those of every route. */
const GUARDED: Readonly<Record<string, string>> = {
  '401': 'No key, or one that is not valid',
  '403': 'The key may not call this route, or the Origin or Host is not allowed',
};
const COMMON: Readonly<Record<string, string>> = {
  '4XX': 'The request cannot be served as it is: `code` and `message` say why',
  '5XX': 'The gateway, an engine or an upstream failed; `Retry-After` says when to try again',
};

const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => ({
  schema: z.toJSONSchema(schema, { unrepresentable: 'any', io }),
});

const contentOf = (schemas: Readonly<Record<string, Json>>) =>
  Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));

/** A body is required unless the route accepts an empty one. */
function requestBody(id: RouteId): Json {
  const documented = V1_DOCUMENTS[id];
  if (documented !== undefined)
    return { requestBody: { required: true, content: contentOf(documented.request) } };
  const schema = REQUEST_SCHEMAS[id];
  if (schema === undefined) return {};
  const required = !schema.safeParse({}).success;
  return { requestBody: { required, content: { 'application/json': schemaOf(schema, 'input') } } };
}

function successContent(id: RouteId, { kind }: RouteRow): Json | undefined {
  const documented = V1_DOCUMENTS[id];
  if (documented !== undefined) return contentOf(documented.answer);
  const schema = RESPONSE_SCHEMAS[id];
  if (schema !== undefined) return { 'application/json': schemaOf(schema, 'output') };
  return (
    CONTENT[kind] ?? (kind === 'api' ? { 'application/json': { schema: { type: 'object' } } } : undefined)
  );
}

function responses(id: RouteId, row: RouteRow): Json {
  const content = successContent(id, row);
  const success =
    row.kind === 'websocket'
      ? [['101', { description: 'The WebSocket is open' }]]
      : (SUCCESSES[id] ?? ['200']).map((status) => [
          status,
          { description: 'Success', ...(content && { content }) },
        ]);
  const errors = { ...(row.auth === 'open' ? {} : GUARDED), ...COMMON };
  const failures = Object.entries(errors).map(([status, description]) => [
    status,
    { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
  ]);
  return Object.fromEntries([...success, ...failures]);
}

const TAGS = {
  inference: 'Inference: OpenAI-compatible and Anthropic-compatible routes under /v1',
  auth: 'Keys, sessions and access',
  slots: 'Slots and their engines',
  models: 'Registered models, the hub and downloads',
  upstreams: 'Other servers',
  memory: 'Notes of assistants',
  requests: 'Requests and usage',
  system: 'Health, hardware, settings and events',
} as const;
type Tag = keyof typeof TAGS;
const TAG_OF: Readonly<Record<string, Tag>> = {
  auth: 'auth',
  slots: 'slots',
  models: 'models',
  pulls: 'models',
  upstreams: 'upstreams',
  memory: 'memory',
  requests: 'requests',
  usage: 'requests',
  dispatch: 'requests',
};

/** The tag of a path, by its first segment under `/api`. */
const tagOf = (path: string): Tag =>
  path.startsWith('/v1/') ? 'inference' : (TAG_OF[path.split('/')[2] ?? ''] ?? 'system');

function operation(id: RouteId, row: RouteRow): Json {
  return {
    operationId: id,
    summary: row.summary,
    tags: [tagOf(row.path)],
    'x-auth-class': row.auth,
    parameters: parameters(id, row.path),
    ...requestBody(id),
    responses: responses(id, row),
    security: row.auth === 'open' ? [] : [{ bearer: [] }, { session: [] }],
  };
}

/** Returns OpenAPI 3.1 for the route table, without the pages of the dashboard and the hints. */
export function openApi(
  routes: Readonly<Record<string, RouteRow>>,
  info: { title: string; version: string },
): Json {
  const paths: Record<string, Json> = {};
  for (const [id, row] of Object.entries(routes)) {
    if (row.kind === 'shell' || row.kind === 'hint') continue;
    const path = openApiPath(row.path);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(id as RouteId, row) };
  }
  return {
    openapi: '3.1.0',
    info,
    // Relative to the address of the document, also behind a proxy with its own path.
    servers: [{ url: '..' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { Error: ENVELOPE },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
      },
    },
  };
}
