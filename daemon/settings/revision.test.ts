import { describe, expect, it } from 'vitest';
import { ifMatchGuard, revisionOf } from './revision.ts';

const A = Buffer.from('a = 1\n');
const B = Buffer.from('a = 2\n');
const quoted = (bytes: Buffer | null) => `"${revisionOf(bytes)}"`;

describe('the revision of a file', () => {
  it('depends on its content and existence', () => {
    const all = [A, B, Buffer.alloc(0), null].map(revisionOf);
    expect(new Set(all).size).toBe(4);
    expect(revisionOf(Buffer.from(A))).toBe(revisionOf(A));
    for (const revision of all) expect(revision).toMatch(/^[\w-]{22}$/);
  });
});

describe('F02 the guard of If-Match', () => {
  it.each<[string, string | undefined, Buffer | null, boolean]>([
    ['no header', undefined, A, true],
    ['the revision', quoted(A), A, true],
    ['one of several', `${quoted(B)} , ${quoted(A)}`, A, true],
    ['that of no file', quoted(null), null, true],
    ['any content', '*', A, true],
    ['any content, and there is none', '*', null, false],
    ['an older one', quoted(B), A, false],
    ['that of a removed file', quoted(A), null, false],
    ['without quotes', revisionOf(A), A, false],
    ['a weak one', `W/${quoted(A)}`, A, false],
    ['nothing', '', A, false],
  ])('%s', (_, header, bytes, passes) => {
    const guard = ifMatchGuard(header);
    if (passes) expect(() => guard(bytes)).not.toThrow();
    else expect(() => guard(bytes)).toThrow(expect.objectContaining({ code: 'config.stale' }));
  });
});
