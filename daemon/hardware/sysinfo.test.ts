import { expect, test } from 'vitest';
import { parseSysinfo, readSysinfo } from './sysinfo.ts';

test('reads name and system', () => {
  const stdout = '{"cpu":"AMD EPYC","os":"Debian GNU/Linux 12"}';
  expect(parseSysinfo({ code: 0, stdout })).toMatchObject({
    cpu: 'AMD EPYC',
    by: 'systeminformation',
    os: 'Debian GNU/Linux 12',
  });
});

test('a failed or silent child is no answer', () => {
  expect(parseSysinfo({ code: 1, stdout: '{"cpu":"AMD EPYC"}' })).toBeNull();
  expect(parseSysinfo({ code: 0, stdout: '{"cpu":"  "}' })).toBeNull();
  expect(parseSysinfo({ code: 0, stdout: 'trouble' })).toBeNull();
});

test('the real child names this processor, and one that is cut off leaves a name too', async () => {
  expect((await readSysinfo('/usr/bin:/bin')).cpu).not.toBe('');
  expect((await readSysinfo('/usr/bin:/bin', AbortSignal.abort())).cpu).not.toBe('');
});
