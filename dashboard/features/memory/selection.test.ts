import { expect, it } from 'vitest';
import { chosenOf, noneChosen, toggled } from './selection.ts';

it('selecting a memory again deselects it', () => {
  const one = toggled(noneChosen('boiler'), 'a');
  expect([...one.ids]).toEqual(['a']);
  expect(one.q).toBe('boiler');
  expect([...toggled(one, 'a').ids]).toEqual([]);
});

it('ignores ids that the list no longer shows', () => {
  const two = toggled(toggled(noneChosen(''), 'a'), 'b');
  expect(chosenOf(two, [{ id: 'b' }, { id: 'c' }])).toEqual(['b']);
  expect(chosenOf(two, [])).toEqual([]);
});
