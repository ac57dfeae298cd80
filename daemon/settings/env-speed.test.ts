import { expect, test } from 'vitest';
import { cpuTimer } from '../lib/testing/cpu-time.ts';
import { setInEnvFile } from './env-file.ts';
import { scanEnv } from './env-scan.ts';

const set = (text: string, name: string, value: string) =>
  setInEnvFile(Buffer.from(text), name, value).toString();

test('edits a file of 1 MiB quickly and preserves all other bytes', () => {
  const filler = '# comment line with words\r\nUNKNOWN_NAME="some value"\r\n\r\n'.repeat(9500);
  const before = `${filler}SVC_ADMIN_KEY=old\r\n${filler}`;
  expect(before.length).toBeGreaterThan(1 << 20);
  const cpuMs = cpuTimer();
  expect(set(before, 'SVC_ADMIN_KEY', 'new')).toBe(`${filler}SVC_ADMIN_KEY=new\r\n${filler}`);
  expect(cpuMs()).toBeLessThan(5000);
});

test('reads a large text in linear time', () => {
  const text = 'A="x'.padEnd(1 << 20, '\\y ');
  const cpuMs = cpuTimer();
  expect(scanEnv(text).assignments).toHaveLength(1);
  expect(cpuMs()).toBeLessThan(3000);
});
