import { describe, expect, it } from 'vitest';
import { AutoSlots } from './auto-slots.ts';
import type { BindableModel } from './bindings.ts';
import { slotConfig } from './testing/owner-bench.ts';

const V: BindableModel = { id: 'V', type: 'embedding', created: 1 };
const W: BindableModel = { id: 'W', type: 'embedding', created: 2 };
const none: ReadonlySet<string> = new Set();

class Notes {
  text: string | null = null;
  writes = 0;
  get = () => this.text;
  set = (text: string) => {
    this.text = text;
    this.writes += 1;
  };
}

function open(models: BindableModel[], notes = new Notes()) {
  const auto = new AutoSlots({ models: () => models, kept: notes, held: (config) => config.model });
  return { auto, notes, models };
}
const pairs = (configs: readonly { name: string; model: string | null }[]) =>
  configs.map(({ name, model }) => [name, model]);

describe('AutoSlots', () => {
  it('a model gets a slot of its type that is nothing but the default', () => {
    const { auto } = open([V]);
    const [embed] = auto.configs({ configs: [], broken: none });
    expect(embed).toMatchObject({ name: 'embed', auto: true, type: 'embedding', model: 'V', enabled: true });
  });

  it('a file without a model is completed, a disabled or broken one is left alone', () => {
    const { auto } = open([V]);
    const file = slotConfig('embed', 'context = 256');
    expect(auto.configs({ configs: [file], broken: none })).toEqual([{ ...file, model: 'V' }]);
    const off = slotConfig('embed', 'enabled = false');
    expect(pairs(auto.configs({ configs: [off], broken: none }))).toEqual([
      ['embed', null],
      ['v', 'V'],
    ]);
    expect(pairs(auto.configs({ configs: [], broken: new Set(['embed']) }))).toEqual([['v', 'V']]);
  });

  it('settings that did not change are the same object, and nothing is written again', () => {
    const { auto, notes } = open([V, W]);
    const first = auto.configs({ configs: [], broken: none });
    const again = auto.configs({ configs: [], broken: none });
    expect(again.every((config, i) => config === first[i])).toBe(true);
    expect(first.every((config) => auto.chose(config))).toBe(true);
    expect(auto.chose(slotConfig('embed'))).toBe(false);
    expect(notes.writes).toBe(1);
  });

  it('bindings outlive the gateway', () => {
    const { notes } = open([]);
    const models = [W];
    const kept = (some: BindableModel[]) =>
      pairs(open(some, notes).auto.configs({ configs: [], broken: none }));
    expect(kept(models)).toEqual([['embed', 'W']]);
    expect(kept([V, W])).toEqual([
      ['v', 'V'],
      ['embed', 'W'],
    ]);
    expect(kept([V])).toEqual([['embed', 'V']]);
  });
});
