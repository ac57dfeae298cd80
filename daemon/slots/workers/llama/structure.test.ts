import { expect, test } from 'vitest';
import { completionRequest } from './completion-request.ts';

const structure = (body: object) => completionRequest({ prompt: 'x', ...body }).structure;
const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

test('has no structure for free text', () => {
  for (const body of [{}, { response_format: { type: 'text' } }, { response_format: null }, { grammar: '' }])
    expect(structure(body)).toBeNull();
});

test.each([
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } } },
    'response_format',
  ],
  [{ response_format: { type: 'json_object', schema } }, 'response_format'],
  [{ json_schema: schema }, 'json_schema'],
])('%j requests the schema', (body, param) => {
  const requested = structure(body);
  expect(requested).toMatchObject({ param, schema });
  expect(requested?.grammar).toContain('integer ::=');
});

test('json_object requests any object, and grammar is passed through', () => {
  expect(structure({ response_format: { type: 'json_object' } })?.grammar).toContain('object ::= "{"');
  expect(structure({ grammar: 'root ::= "a"' })).toEqual({
    schema: null,
    grammar: 'root ::= "a"',
    param: 'grammar',
  });
});

test.each([
  [{ response_format: { type: 'xml' } }, 'response_format'],
  [{ response_format: { type: 'json_schema' } }, 'response_format'],
  [{ response_format: { type: 'json_schema', json_schema: { name: 'x' } } }, 'response_format'],
  [{ json_schema: { type: 'string', pattern: '\\ba' } }, '"pattern" "\\\\ba" is not supported'],
  [{ json_schema: schema, grammar: 'root ::= "a"' }, 'grammar: conflicts with json_schema'],
  [{ grammar: 'root ::= "a"{5,2}' }, 'grammar: {5,2} has a maximum below its minimum'],
  [{ grammar: 'x'.repeat(70_000) }, 'grammar'],
])('refuses %j with the reason', (body, reason) => {
  expect(() => structure(body)).toThrow(reason);
});
