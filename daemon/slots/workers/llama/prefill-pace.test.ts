import { expect, test } from 'vitest';
import { prefillPace } from './prefill-pace.ts';

async function paceAfter(msPerToken: number, parts: number, batch = 512) {
  let time = 0;
  const pace = prefillPace(batch, () => time);
  for (let i = 0; i < parts; i++) {
    const size = pace.size();
    await pace.time(size, async () => {
      time += size * msPerToken;
    });
  }
  return pace.size();
}

test('it starts small and grows to the batch on a fast engine', async () => {
  expect(await paceAfter(0.01, 0)).toBe(16);
  expect(await paceAfter(0.01, 1)).toBe(512);
});

test('a part takes about 150 ms on a slow engine, and is never less than 16 tokens', async () => {
  expect(await paceAfter(1, 5)).toBe(150);
  expect(await paceAfter(50, 5)).toBe(16);
});

test('a batch below that is kept to', async () => {
  expect(await paceAfter(1, 3, 8)).toBe(8);
});
