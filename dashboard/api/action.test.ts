import { expect, it } from 'vitest';
import { Exclusive } from './action.ts';

it('ignores a second call while one is running, and allows the next after success or failure', async () => {
  const once = new Exclusive();
  const began: string[] = [];
  let end = (): void => {};
  once.begin(() => began.push('first'));
  const work = once.until(
    new Promise<void>((_, fail) => {
      end = () => fail(new Error('no'));
    }),
  );
  once.begin(() => began.push('second'));
  expect(began).toEqual(['first']);
  expect(once.busy).toBe(true);
  end();
  await expect(work).rejects.toThrow('no');
  once.begin(() => began.push('third'));
  expect(began).toEqual(['first', 'third']);
});
