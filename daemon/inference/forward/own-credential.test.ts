import { describe, expect, it } from 'vitest';
import { credentialsOf, redactCredentials } from './own-credential.ts';

describe('credentialsOf', () => {
  it('returns values without their scheme, and nothing short', () => {
    const headers = { authorization: 'Bearer sk-123456', 'x-api-key': 'plain-key', 'x-flag': 'on' };
    expect(credentialsOf(headers).map(String)).toEqual(['sk-123456', 'plain-key']);
  });
});

describe('withoutCredentials', () => {
  const hide = (text: string, ...secrets: string[]) =>
    String(redactCredentials(Buffer.from(text), secrets.map(Buffer.from)));

  it('replaces every occurrence of every secret', () => {
    expect(hide('a sk-123456, sk-123456 b other1', 'sk-123456', 'other1')).toBe(
      'a [hidden], [hidden] b [hidden]',
    );
    expect(hide('sk-123456', 'sk-123456')).toBe('[hidden]');
  });

  it('removes a secret that contains another one completely', () => {
    expect(hide('a lab-key-s3cret b', 'lab-key', 'lab-key-s3cret')).toBe('a [hidden] b');
  });

  it('returns the same Buffer without a secret', () => {
    const bytes = Buffer.from('{"error":"é"}');
    expect(redactCredentials(bytes, [Buffer.from('sk-123456')])).toBe(bytes);
    expect(redactCredentials(bytes, [])).toBe(bytes);
  });
});
