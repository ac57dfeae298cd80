import { describe, expect, it } from 'vitest';
import { bindingsText, mergeBindings, type Retained, readBindings } from './stored-bindings.ts';

it('reads what was written, and equal bindings have equal texts', () => {
  const one = new Map([
    ['b', 'embed'],
    ['A.1', 'a-1'],
  ]);
  expect(readBindings(bindingsText(one))).toEqual(one);
  expect(bindingsText(new Map([...one].reverse()))).toBe(bindingsText(one));
});

it.each([null, '', 'x', '[]', '{"a":1}', '{"a":"../x"}'])('the invalid text %j gives no bindings', (text) => {
  expect(readBindings(text)).toEqual(new Map());
});

describe('mergeBindings', () => {
  const none: ReadonlySet<string> = new Set();
  const keep = (bound: object, before: object, waiting: Partial<Retained>) =>
    Object.fromEntries(
      mergeBindings(new Map(Object.entries(bound)), new Map(Object.entries(before)), {
        models: none,
        slots: none,
        ...waiting,
      }),
    );

  it('drops removed models and keeps unavailable ones', () => {
    const before = { away: 'embed', removed: 'removed' };
    expect(keep({ new: 'new' }, before, { models: new Set(['away']) })).toEqual({
      away: 'embed',
      new: 'new',
    });
  });

  it('a replacement keeps its slot, or has none if it had none', () => {
    const before = { away: 'embed', next: 'next' };
    const models = new Set(['away']);
    expect(keep({ next: 'embed' }, before, { models })).toEqual(before);
    expect(keep({ new: 'embed' }, { away: 'embed' }, { models })).toEqual({ away: 'embed' });
  });

  it('a slot with a temporary swap stays bound to its own model', () => {
    const before = { own: 'embed' };
    expect(keep({ own: 'own' }, before, { slots: new Set(['embed']) })).toEqual(before);
  });
});
