import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

test('the gate and its record mode are separate options', () => {
  expect(parseOptions([])).toMatchObject({ gate: false, record: false, report: null });
  expect(parseOptions(['--gate', '--report', 'r.json'])).toMatchObject({ gate: true, report: 'r.json' });
  expect(parseOptions(['--gate', '--record'])).toMatchObject({ gate: true, record: true });
});

test('--record without --gate is an error', () => {
  expect(() => parseOptions(['--record'])).toThrow('--record works with --gate only');
});

test('counts are whole numbers from 1', () => {
  expect(() => parseOptions(['--rounds', '0'])).toThrow('--rounds takes a whole number from 1');
  expect(parseOptions([]).secs).toBe(2);
});
