import { describe, expect, it } from 'vitest';
import { createRedactor, redactSecrets, redactSecretsIn } from './redact.ts';
import { truncate } from './truncate.ts';

const KEY = 'a-key-"of"-some\\length';

describe('redactSecrets', () => {
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
  ])('redacts %s', (_, text, expected) => expect(redactSecrets(text, [KEY])).toBe(expected));

  it('redacts the start of a secret only before an ellipsis', () => {
    const long = `the model "${KEY}"`;
    const [begins, ends] = [long.indexOf(KEY), long.indexOf(KEY) + KEY.length];
    for (let maxLength = begins + 4; maxLength < ends; maxLength++) {
      expect(redactSecrets(truncate(long, maxLength), [KEY]), `cut at ${maxLength}`).toBe(
        'the model "[hidden]…',
      );
      expect(redactSecrets(JSON.stringify({ at: truncate(long, maxLength) }), [KEY])).toBe(
        '{"at":"the model \\"[hidden]…"}',
      );
    }
    expect(redactSecrets(`a-key… and ${truncate('a-key-to', 6)}, a-key`, [KEY])).toBe(
      '[hidden]… and [hidden]…, a-key',
    );
    expect(redactSecrets('all-is-well… a-k…', [KEY])).toBe('all-is-well… a-k…');
  });

  it('keeps words that are too short for a secret', () => {
    expect(redactSecrets('the model', ['model'])).toBe('the model');
  });
});

describe('redactSecretsIn', () => {
  it('keeps structure, keys and values that are not strings', () => {
    const value = { error: { message: `no ${KEY}`, details: [KEY, 1, null, true, { [KEY]: undefined }] } };
    expect(redactSecretsIn(value, [KEY])).toEqual({
      error: { message: 'no [hidden]', details: ['[hidden]', 1, null, true, { [KEY]: undefined }] },
    });
  });
});

describe('createRedactor', () => {
  it('uses the current secrets, also for a cached text', () => {
    let secrets: readonly string[] = [];
    const hide = createRedactor(() => secrets);
    expect([hide(`model ${KEY}`), hide('model')]).toEqual([`model ${KEY}`, 'model']);
    secrets = [KEY];
    expect([hide(`model ${KEY}`), hide(`model ${KEY}`)]).toEqual(['model [hidden]', 'model [hidden]']);
    secrets = [];
    expect(hide(`model ${KEY}`)).toBe(`model ${KEY}`);
  });
});
