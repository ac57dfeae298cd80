import { z } from 'zod';
import { ERRORS } from '../contract/errors.ts';
import { QUERIES } from '../contract/queries.ts';
import type { RouteRow } from '../contract/routes.ts';
import { REQUEST_SCHEMAS, RESPONSE_SCHEMAS } from '../contract/schemas.ts';

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

function operation(id: string, row: RouteRow): Json {
  const request = REQUEST_SCHEMAS[id as keyof typeof REQUEST_SCHEMAS];
  const response = RESPONSE_SCHEMAS[id as keyof typeof RESPONSE_SCHEMAS];
  const json = (schema: z.ZodType) => ({
    'application/json': { schema: z.toJSONSchema(schema, { unrepresentable: 'any' }) },
  });
  return {
    operationId: id,
    summary: row.summary,
    'x-auth-class': row.auth,
    parameters: parameters(id, row.path),
    ...(request ? { requestBody: { content: json(request) } } : {}),
    responses: {
      '200': { description: 'Success', ...(response ? { content: json(response) } : {}) },
      default: {
        description: 'Error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
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
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(id, row) };
  }
  return {
    openapi: '3.1.0',
    info,
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
