import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamRedactor } from './redact-stream.ts';

const SECRET = Buffer.from('sk-aa-sk-aab');
const pass = (chunks: readonly string[], secrets = [SECRET]) => {
  const redactor = new StreamRedactor(secrets);
  const parts = chunks.map((chunk) => redactor.push(Buffer.from(chunk)));
  return Buffer.concat([...parts, redactor.end()]).toString();
};

describe('StreamRedactor', () => {
  it('returns the same Buffer without a secret', () => {
    const chunk = Buffer.from('data: {"x":1}\n\n');
    expect(new StreamRedactor([SECRET]).push(chunk)).toBe(chunk);
    expect(new StreamRedactor([]).push(chunk)).toBe(chunk);
  });

  it.each([
    [['a sk-aa-sk-aab b']],
    [['a sk-aa', '-sk-aab b']],
    [['a s', 'k-aa-sk-aab b']],
    [[...'a sk-aa-sk-aab b']],
  ])('%j: asterisks of the same length', (chunks) => expect(pass(chunks)).toBe('a ************ b'));

  it.each([
    ['one begins another', 'a lab-key-s3cret b', 'a ************** b', ['lab-key', 'lab-key-s3cret']],
    ['one ends another', 'a lab-key-s3cret b', 'a ************** b', ['s3cret', 'lab-key-s3cret']],
    ['two share bytes', 'a lab-key-s3cret b', 'a ************** b', ['lab-key', 'key-s3cret']],
  ])('%s, for any chunking and order', (_, text, expected, words) => {
    const secrets = words.map((word) => Buffer.from(word));
    for (const list of [secrets, secrets.toReversed()]) {
      for (let at = 0; at <= text.length; at++) {
        expect(pass([text.slice(0, at), text.slice(at)], list), `cut at ${at}`).toBe(expected);
      }
      expect(pass([...text], list)).toBe(expected);
    }
  });

  it('a partial secret is released at the end', () => {
    expect(pass(['x sk-aa-sk-a'])).toBe('x sk-aa-sk-a');
  });

  it('for any chunking, no secret passes and no length changes', () => {
    const piece = fc.constantFrom('sk-aa-sk-aab', 'sk-aa-', 's', 'other', 'k-9-other-secret', '-');
    const other = Buffer.from('k-9-other-secret');
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
        const text = pieces.join('');
        const chunks: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(text.slice(at, at + cut));
          at += cut;
        }
        chunks.push(text.slice(at));
        const out = pass(chunks, [SECRET, other]);
        expect(out).toHaveLength(text.length);
        expect(out).not.toContain(SECRET.toString());
        expect(out).not.toContain(other.toString());
      }),
    );
  });
});
