import { expect, test } from 'vitest';
import { completionRequest } from './completion-request.ts';

const structure = (body: object) => completionRequest({ prompt: 'x', ...body }).structure;
const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

const strictly = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
});

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
    strict: false,
    grammar: 'root ::= "a"',
    relaxed: [],
    param: 'grammar',
  });
});

test.each([
  [strictly({ type: 'integer', multipleOf: 5 }), ['response_format.multipleOf']],
  [{ json_schema: { type: 'string', pattern: '\\ba' } }, ['json_schema.pattern']],
  [
    { response_format: { type: 'json_object', schema: { type: 'array', uniqueItems: true } } },
    ['response_format.uniqueItems'],
  ],
  [{ json_schema: { not: { type: 'string' } } }, ['json_schema.not']],
  [{ json_schema: { type: 'int' } }, ['json_schema.schema']],
  [{ json_schema: schema }, []],
])('%j names what the grammar does not enforce', (body, relaxed) => {
  expect(structure(body)?.relaxed).toEqual(relaxed);
});

test.each([
  [{ response_format: { type: 'xml' } }, 'response_format'],
  [{ response_format: { type: 'json_schema' } }, 'response_format'],
  [{ response_format: { type: 'json_schema', json_schema: { name: 'x' } } }, 'response_format'],
  [{ json_schema: [] }, 'json_schema: the JSON schema is not supported: a schema must be an object'],
  [strictly({ enum: [] }), 'no value fits an empty list'],
  [strictly({ not: { type: 'string' } }), '"not" is not supported'],
  [strictly({ type: 'int' }), 'the type "int" is unknown'],
  [{ json_schema: schema, grammar: 'root ::= "a"' }, 'grammar: conflicts with json_schema'],
  [{ grammar: 'root ::= "a"{5,2}' }, 'grammar: {5,2} has a maximum below its minimum'],
  [{ grammar: 'x'.repeat(70_000) }, 'grammar'],
])('refuses %j with the reason', (body, reason) => {
  expect(() => structure(body)).toThrow(reason);
});
