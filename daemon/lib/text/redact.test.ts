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
  ])('hides %s', (_, text, expected) => expect(redactSecrets(text, [KEY])).toBe(expected));

  it('hides the beginning of a secret where a text was cut, and only there', () => {
    const long = `the model "${KEY}"`;
    const [begins, ends] = [long.indexOf(KEY), long.indexOf(KEY) + KEY.length];
    for (let most = begins + 4; most < ends; most++) {
      expect(redactSecrets(truncate(long, most), [KEY]), `cut at ${most}`).toBe('the model "[hidden]…');
      expect(redactSecrets(JSON.stringify({ at: truncate(long, most) }), [KEY])).toBe(
        '{"at":"the model \\"[hidden]…"}',
      );
    }
    expect(redactSecrets(`a-key… and ${truncate('a-key-to', 6)}, a-key`, [KEY])).toBe(
      '[hidden]… and [hidden]…, a-key',
    );
    expect(redactSecrets('all-is-well… a-k…', [KEY])).toBe('all-is-well… a-k…');
  });

  it('leaves words alone that are too short for a secret', () => {
    expect(redactSecrets('the model', ['model'])).toBe('the model');
  });
});

describe('redactSecretsIn', () => {
  it('keeps the shape, the names and what is no text', () => {
    const value = { error: { message: `no ${KEY}`, details: [KEY, 1, null, true, { [KEY]: undefined }] } };
    expect(redactSecretsIn(value, [KEY])).toEqual({
      error: { message: 'no [hidden]', details: ['[hidden]', 1, null, true, { [KEY]: undefined }] },
    });
  });
});

describe('createRedactor', () => {
  it('goes by the secrets of the moment, also for a text that it has seen before', () => {
    let secrets: readonly string[] = [];
    const hide = createRedactor(() => secrets);
    expect([hide(`model ${KEY}`), hide('model')]).toEqual([`model ${KEY}`, 'model']);
    secrets = [KEY];
    expect([hide(`model ${KEY}`), hide(`model ${KEY}`)]).toEqual(['model [hidden]', 'model [hidden]']);
    secrets = [];
    expect(hide(`model ${KEY}`)).toBe(`model ${KEY}`);
  });
});
