import { describe, expect, it } from 'vitest';
import { ModelRegister } from '../../../daemon/contract/models.ts';
import { SlotCreate, SlotSettings } from '../../../daemon/contract/slots.ts';
import { UpstreamCreate, UpstreamPut } from '../../../daemon/contract/upstreams.ts';
import { bodyOf, type FieldRow, helpText, issuesOf, meaningOf, refusedFields, textOf } from './draft.ts';

const row = (key: string, kind: FieldRow['kind']): FieldRow => ({
  key,
  kind,
  label: key.charAt(0).toUpperCase() + key.slice(1),
  help: '',
});
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
    ['map', 'a = b, c\nd = e', { a: ['b', 'c'], d: ['e'] }],
    ['map', 'a b', 'a b'],
    ['text', ' x ', 'x'],
  ] as const)('%s %j', (kind, text, value) => {
    expect(meaningOf(kind, text)).toEqual(value);
  });

  it.each([
    ['flag', true],
    ['number', 7],
    ['list', ['a', 'b']],
    ['map', { a: ['b', 'c'], d: ['e'] }],
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
      name: 'Name must contain only a-z, 0-9, - and _, at most 32 characters.',
      context: 'Context must be a number.',
    });
    expect(issuesOf(SlotSettings, { voice: { speed: 'fast' } }, ROWS)).toEqual({
      'voice.speed': 'Voice.speed must be a number.',
    });
    expect(issuesOf(SlotCreate, { name: 'fine', idle_unload: '15 min' }, ROWS)).toEqual({});
  });

  it('says what to enter in an empty field', () => {
    const address = { ...row('base_url', 'text'), label: 'Address' };
    expect(issuesOf(UpstreamCreate, {}, [...ROWS, address])).toEqual({
      name: 'Enter a name.',
      base_url: 'Enter an address.',
    });
  });

  // Every schema of a form, with a value of the wrong type in each field, in every nesting.
  it.each([SlotCreate, SlotSettings, UpstreamCreate, UpstreamPut, ModelRegister] as const)(
    'never shows a message of the validator (%#)',
    (schema) => {
      const values = [
        undefined,
        null,
        true,
        -1.5,
        1e30,
        '',
        '\u0000',
        'x'.repeat(5000),
        [],
        [1],
        {},
        { a: {} },
      ];
      const keys = Object.keys(schema.shape);
      const bodies = values.flatMap((value) => keys.map((key) => ({ [key]: value })));
      const messages = [{}, { unknown: 1 }, ...bodies].flatMap((body) =>
        Object.values(issuesOf(schema, body, [])),
      );
      expect(messages.length).toBeGreaterThan(10);
      expect(
        messages.filter((text) => !/^\S.*\.$/s.test(text) || /Invalid|received|expected|\/\^/.test(text)),
      ).toEqual([]);
    },
  );
});

it('helpText contains the required mark and the source of the value', () => {
  const help = { ...row('name', 'text'), help: 'at most 32' };
  expect(helpText(help)).toBe('at most 32');
  expect(helpText({ ...help, required: true, origin: 'from the file' })).toBe(
    'Required · at most 32 · from the file',
  );
});

it('refusedFields reads error details and ignores other shapes', () => {
  const fields = [{ path: 'device', reason: 'is unknown' }, { path: 'context', reason: 'is 0' }, { path: 7 }];
  expect(refusedFields({ fields }, [{ ...row('device', 'text'), label: 'Device' }])).toEqual({
    device: 'Device is unknown.',
    context: 'context is 0.',
  });
  expect(refusedFields({}, [])).toEqual({});
});
