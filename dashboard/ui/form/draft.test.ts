import { describe, expect, it } from 'vitest';
import { SlotCreate, SlotSettings } from '../../../daemon/contract/slots.ts';
import { bodyOf, type FieldRow, helpText, issuesOf, meaningOf, refusedFields, textOf } from './draft.ts';

const row = (key: string, kind: FieldRow['kind']): FieldRow => ({ key, kind, label: key, help: '' });
const ROWS = [
  row('name', 'text'),
  row('context', 'number'),
  row('pinned', 'flag'),
  row('idle_unload', 'duration'),
  row('voice.speed', 'number'),
];

describe('meaningOf', () => {
  it.each([
    ['flag', 'yes', true],
    ['flag', 'no', false],
    ['number', ' 12 ', 12],
    ['number', '-0.5', -0.5],
    ['number', 'many', 'many'],
    ['duration', '900', 900],
    ['duration', '15 min', '15 min'],
    ['list', 'a, b\n\n c ', ['a', 'b', 'c']],
    ['text', ' x ', 'x'],
  ] as const)('%s %j', (kind, text, value) => {
    expect(meaningOf(kind, text)).toEqual(value);
  });

  it.each([
    ['flag', true],
    ['number', 7],
    ['list', ['a', 'b']],
    ['text', 'x'],
  ] as const)('round-trips a %s', (kind, value) => {
    expect(meaningOf(kind, textOf(value))).toEqual(value);
  });
});

describe('bodyOf', () => {
  const baseline = { context: '4096', pinned: 'no' };

  it('contains changed fields only', () => {
    expect(bodyOf(ROWS, { ...baseline, pinned: 'yes' }, baseline)).toEqual({ pinned: true });
    expect(bodyOf(ROWS, baseline, baseline)).toEqual({});
  });

  it('resets cleared and reset fields to their default, also nested ones', () => {
    expect(bodyOf(ROWS, { context: '', pinned: null, 'voice.speed': '1.5' }, baseline)).toEqual({
      context: null,
      pinned: null,
      voice: { speed: 1.5 },
    });
    expect(bodyOf(ROWS, { ...baseline, 'voice.speed': null }, baseline)).toEqual({ voice: { speed: null } });
  });
});

describe('issuesOf', () => {
  it('reports errors of the schema by field', () => {
    expect(issuesOf(SlotCreate, { name: 'Upper', context: 'many' }, ROWS)).toMatchObject({
      name: expect.any(String),
      context: 'must be a number',
    });
    expect(issuesOf(SlotSettings, { voice: { speed: 'fast' } }, ROWS)).toEqual({
      'voice.speed': 'must be a number',
    });
    expect(issuesOf(SlotCreate, { name: 'fine', idle_unload: '15 min' }, ROWS)).toEqual({});
  });
});

it('helpText contains the required mark and the source of the value', () => {
  const help = { ...row('name', 'text'), help: 'at most 32' };
  expect(helpText(help)).toBe('at most 32');
  expect(helpText({ ...help, required: true, origin: 'from the file' })).toBe(
    'Required · at most 32 · from the file',
  );
});

it('refusedFields reads error details and ignores other shapes', () => {
  expect(refusedFields({ fields: [{ path: 'device', reason: 'is unknown' }, { path: 7 }] })).toEqual({
    device: 'is unknown',
  });
  expect(refusedFields({})).toEqual({});
});
