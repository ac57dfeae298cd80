import { describe, expect, test } from 'vitest';
import { ROUTES, routeRows } from '../contract/routes.ts';
import { openApi } from './openapi.ts';

interface Operation {
  operationId: string;
  tags: string[];
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, object> }>;
}

const document = openApi(ROUTES, { title: 'svc-gateway', version: '1' }) as {
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
};
const operations = new Map(
  Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((operation) => [operation.operationId, operation] as const),
  ),
);
const operation = (id: string): Operation => operations.get(id) as Operation;
const API_ROWS = routeRows().filter(({ kind }) => kind !== 'shell' && kind !== 'hint');

test('has a server that is relative to the document, and its tags', () => {
  expect(document.servers).toEqual([{ url: '..' }]);
  const names = document.tags.map(({ name }) => name);
  for (const { tags } of operations.values()) expect(names).toContain(tags[0]);
});

describe.each(API_ROWS.map((row) => [row.id, row] as const))('%s', (id, row) => {
  test('describes its body, its answer and its errors', () => {
    const { requestBody, responses } = operation(id);
    const isRead = row.body !== 'none';
    expect(requestBody !== undefined, 'has a body').toBe(isRead);
    const successes = Object.entries(responses).filter(([status]) => /^[12]/.test(status));
    expect(successes.length).toBeGreaterThan(0);
    if (row.kind !== 'websocket')
      for (const [, { content }] of successes) expect(Object.keys(content ?? {})).not.toEqual([]);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['4XX', '5XX']));
    expect(responses).not.toHaveProperty('default');
    expect('401' in responses).toBe(row.auth !== 'open');
  });
});

test('every inference route has the schemas of its body and answer', () => {
  for (const { id, kind } of API_ROWS) {
    if (kind !== 'inference') continue;
    const { requestBody, responses } = operation(id);
    expect(requestBody?.required, id).toBe(true);
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      expect(schema, id).toHaveProperty('required');
    expect(responses['200']?.content, id).toBeDefined();
  }
  expect(Object.keys(operation('v1.transcriptions').requestBody?.content ?? {})).toEqual([
    'multipart/form-data',
  ]);
  expect(Object.keys(operation('v1.chat').responses['200']?.content ?? {})).toEqual([
    'application/json',
    'text/event-stream',
  ]);
});

test('actions that may outlast the request have 202, and a new slot 201', () => {
  expect(Object.keys(operation('slot.create').responses)).toContain('201');
  expect(Object.keys(operation('slot.create').responses)).not.toContain('200');
  for (const id of ['slot.load', 'slot.unload', 'slot.restart', 'slot.swap'])
    expect(Object.keys(operation(id).responses), id).toEqual(expect.arrayContaining(['200', '202']));
});

test('a body is required unless an empty one is accepted', () => {
  expect(operation('auth.login').requestBody?.required).toBe(true);
  expect(operation('memory.add').requestBody?.required).toBe(true);
  expect(operation('upstream.test').requestBody?.required).toBe(false);
});
