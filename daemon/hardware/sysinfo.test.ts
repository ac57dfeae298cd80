import { expect, test } from 'vitest';
import { parseSysinfo, readSysinfo } from './sysinfo.ts';

test('reads the name', () => {
  expect(parseSysinfo({ code: 0, stdout: '{"cpu":" AMD EPYC "}' })).toBe('AMD EPYC');
});

test('returns null for a failed or silent child', () => {
  expect(parseSysinfo({ code: 1, stdout: '{"cpu":"AMD EPYC"}' })).toBeNull();
  expect(parseSysinfo({ code: 0, stdout: '{"cpu":"  "}' })).toBeNull();
  expect(parseSysinfo({ code: 0, stdout: 'trouble' })).toBeNull();
});

test('the real child reports this processor, and an aborted one still returns a name', async () => {
  expect(await readSysinfo('/usr/bin:/bin')).toMatchObject({
    cpu: expect.stringMatching(/\S/),
    by: 'systeminformation',
  });
  expect((await readSysinfo('/usr/bin:/bin', AbortSignal.abort())).cpu).not.toBe('');
});
