import { describe, expect, it } from 'vitest';
import { bindingsText, mergeBindings, type Retained, readBindings } from './stored-bindings.ts';

it('what was written is read, and equal bindings are equal texts', () => {
  const one = new Map([
    ['b', 'embed'],
    ['A.1', 'a-1'],
  ]);
  expect(readBindings(bindingsText(one))).toEqual(one);
  expect(bindingsText(new Map([...one].reverse()))).toBe(bindingsText(one));
});

it.each([null, '', 'x', '[]', '{"a":1}', '{"a":"../x"}'])('%j is no memory', (text) => {
  expect(readBindings(text)).toEqual(new Map());
});

describe('bindingsToKeep', () => {
  const none: ReadonlySet<string> = new Set();
  const keep = (bound: object, before: object, waiting: Partial<Retained>) =>
    Object.fromEntries(
      mergeBindings(new Map(Object.entries(bound)), new Map(Object.entries(before)), {
        models: none,
        slots: none,
        ...waiting,
      }),
    );

  it('who is gone for good is forgotten, who is out of sight is not', () => {
    const before = { away: 'embed', gone: 'gone' };
    expect(keep({ new: 'new' }, before, { models: new Set(['away']) })).toEqual({
      away: 'embed',
      new: 'new',
    });
  });

  it('who stands in keeps what it had, and nothing if it had nothing', () => {
    const before = { away: 'embed', next: 'next' };
    const models = new Set(['away']);
    expect(keep({ next: 'embed' }, before, { models })).toEqual(before);
    expect(keep({ new: 'embed' }, { away: 'embed' }, { models })).toEqual({ away: 'embed' });
  });

  it('a slot that holds another model for this run stays with its own', () => {
    const before = { own: 'embed' };
    expect(keep({ own: 'own' }, before, { slots: new Set(['embed']) })).toEqual(before);
  });
});
