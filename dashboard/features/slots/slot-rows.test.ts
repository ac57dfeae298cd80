import { describe, expect, it } from 'vitest';
import { SLOT_KEYS } from '../../../daemon/contract/slot-keys.ts';
import { SlotCreate, SlotSettings, type SlotSettingsView } from '../../../daemon/contract/slots.ts';
import { bodyOf, issuesOf } from '../../ui/form/draft.ts';
import { fileOnly, ofModel, slotBaseline, slotRows, spanText, withOrigins } from './slot-rows.ts';

describe('slotRows', () => {
  it('has a labelled field for every key of the daemon', () => {
    const { rows, more } = slotRows([], false);
    expect([...rows, ...more].map(({ key }) => key).sort()).toEqual(Object.keys(SLOT_KEYS).sort());
    for (const { key, label } of [...rows, ...more]) expect(label).not.toBe(key);
    expect(slotRows([], true).rows[0]?.key).toBe('name');
  });

  it('marks the keys that the schema requires, with an example', () => {
    const { rows, more } = slotRows([], true);
    const required = [...rows, ...more].filter((row) => row.required);
    expect(required.map(({ key }) => key)).toEqual(Object.keys(issuesOf(SlotCreate, {}, [...rows, ...more])));
    for (const { placeholder } of required) expect(placeholder).toMatch(/^such as /);
  });

  it('sends a body that the schema accepts', () => {
    const { rows, more } = slotRows(['tiny'], true);
    const typed = { name: 'writer', model: 'tiny', context: '4096', pinned: 'yes', idle_unload: '15 min' };
    const body = bodyOf([...rows, ...more], { ...typed, 'voice.speed': '1.2' }, {});
    expect(SlotCreate.parse(body)).toEqual({
      name: 'writer',
      model: 'tiny',
      context: 4096,
      pinned: true,
      idle_unload: '15 min',
      voice: { speed: 1.2 },
    });
    const wrong = bodyOf(rows, { context: 'many', type: 'soup' }, {});
    expect(Object.keys(issuesOf(SlotSettings, wrong, rows)).sort()).toEqual(['context', 'type']);
  });
});

describe('the settings of a slot', () => {
  const row = (
    key: string,
    value: unknown,
    from: SlotSettingsView['settings'][number]['from'],
    editable = true,
  ) => ({
    key,
    value,
    from,
    editable,
  });
  const view: SlotSettingsView = {
    slot: 'writer',
    file: 'writer.toml',
    revision: 'of its file',
    settings: [
      row('model', 'tiny', 'automatic'),
      row('context', null, 'default'),
      row('pinned', false, 'default'),
      row('idle_unload', 900, 'file'),
      row('runner', 'worker', 'default', false),
      row('extra_args', ['--quiet', '--threads', '2'], 'file', false),
      row('env', ['VOICE_TOKEN'], 'file', false),
      row('sampling.temperature', 0.6, 'model', false),
    ],
    problems: [],
  };

  it('fills the fields, and an untouched form sends nothing', () => {
    const baseline = slotBaseline(view);
    expect(baseline).toEqual({ model: 'tiny', context: '', pinned: 'no', idle_unload: '15 min' });
    const { rows, more } = slotRows([], false);
    expect(bodyOf([...rows, ...more], baseline, baseline)).toEqual({});
  });

  it('includes the source of each value', () => {
    const { rows } = slotRows([], false);
    const withSources = withOrigins(rows, view);
    expect(withSources.find(({ key }) => key === 'model')?.origin).toBe('chosen automatically');
    expect(withSources.find(({ key }) => key === 'device')).not.toHaveProperty('origin');
  });

  it('lists file-only keys that the file sets', () => {
    expect(fileOnly(view)).toEqual([
      ['extra_args', '--quiet --threads 2'],
      ['env', 'VOICE_TOKEN'],
    ]);
  });

  it('lists the sampling of the model file', () => {
    expect(ofModel(view)).toEqual([['temperature', '0.6']]);
  });

  it.each([
    [0, '0'],
    [45, '45'],
    [60, '1 min'],
    [900, '15 min'],
  ])('%i seconds are written as %s', (seconds, text) => expect(spanText(seconds)).toBe(text));
});
