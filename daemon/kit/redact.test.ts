import { describe, expect, it } from 'vitest';
import { hideSecrets, hideSecretsIn } from './redact.ts';

const KEY = 'a-key-"of"-some\\length';

describe('hideSecrets', () => {
  it.each([
    ['the value itself, everywhere', `x${KEY}y ${KEY}`, 'x[hidden]y [hidden]'],
    ['the value as JSON writes it', JSON.stringify({ key: KEY }), '{"key":"[hidden]"}'],
    ['a key in a query', 'GET /x?a=1&API_KEY=anything&b=2', 'GET /x?a=1&API_KEY=[hidden]&b=2'],
    [
      'a session cookie',
      `svc_session=eyJ${'a'.repeat(40)}.${'b'.repeat(43)}; x=1`,
      'svc_session=[hidden]; x=1',
    ],
    ['nothing else', 'eyJ.short and a-key', 'eyJ.short and a-key'],
  ])('hides %s', (_, text, expected) => expect(hideSecrets(text, [KEY])).toBe(expected));

  it('leaves words alone that are too short for a secret', () => {
    expect(hideSecrets('the model', ['model'])).toBe('the model');
  });
});

describe('hideSecretsIn', () => {
  it('keeps the shape, the names and what is no text', () => {
    const value = { error: { message: `no ${KEY}`, details: [KEY, 1, null, true, { [KEY]: undefined }] } };
    expect(hideSecretsIn(value, [KEY])).toEqual({
      error: { message: 'no [hidden]', details: ['[hidden]', 1, null, true, { [KEY]: undefined }] },
    });
  });
});
