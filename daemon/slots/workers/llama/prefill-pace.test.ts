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
  expect(await paceAfter(0.01, 0)).toBe(64);
  expect(await paceAfter(0.01, 1)).toBe(512);
});

test('a part takes about 200 ms on a slow engine, and never less than 64 tokens', async () => {
  expect(await paceAfter(1, 5)).toBe(200);
  expect(await paceAfter(50, 5)).toBe(64);
});

test('a batch below 64 is kept to', async () => {
  expect(await paceAfter(1, 3, 32)).toBe(32);
});
