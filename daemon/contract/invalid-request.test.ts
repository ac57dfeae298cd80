import { expect, it } from 'vitest';
import { fieldSentence, invalidRequest } from './invalid-request.ts';

const message = (...fields: { path: string; reason: string }[]) => invalidRequest(fields).message;

it.each([
  ['limit', 'must be a number', 'limit must be a number.'],
  ['path', 'there is no file at this path', 'path: there is no file at this path.'],
  ['', 'must be an object', 'The body must be an object.'],
])('names the field %j that %s', (path, reason, expected) => {
  expect(message({ path, reason })).toBe(expected);
});

it.each([
  ['must be a whole number', 'Context must be a whole number.'],
  ['the file does not exist', 'The file does not exist.'],
  ['Choose another name.', 'Choose another name.'],
])('fieldSentence: %j', (reason, expected) => {
  expect(fieldSentence('Context', reason)).toBe(expected);
});

it('names up to four fields and counts the others', () => {
  const fields = ['a', 'b', 'c', 'd', 'e', 'f'].map((path) => ({ path, reason: 'is required' }));
  expect(message(...fields.slice(0, 2))).toBe('a is required; b is required.');
  expect(message(...fields)).toBe('a is required; b is required; c is required; d is required; and 2 more.');
});

it('has all fields in the details', () => {
  const fields = [{ path: 'a', reason: 'is required' }];
  const error = invalidRequest(fields, { param: 'a' });
  expect(error).toMatchObject({
    code: 'request.invalid',
    status: 422,
    options: { param: 'a', details: { fields } },
  });
});

it('uses the message of the catalogue without a field', () => {
  expect(message()).toBe('Some values are not valid.');
});
