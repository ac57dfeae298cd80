import { expect, test } from 'vitest';
import { seededRandom } from '../../../lib/seeded-random.ts';
import { createSampler, typical } from './sampler.ts';
import { sampling } from './sampling.ts';

const positions = new Map([
  [1, 0.5],
  [2, 0.3],
  [3, 0.15],
  [4, 0.05],
]);

function share(body: Parameters<typeof sampling>[0], times = 4_000): Map<number, number> {
  const draw = createSampler(
    sampling({ temperature: 1, top_k: 0, top_p: 1, min_p: 0, ...body }),
    seededRandom(5),
  );
  const drawn = new Map<number, number>();
  for (let i = 0; i < times; i++) {
    const token = draw(positions);
    drawn.set(token, (drawn.get(token) ?? 0) + 1 / times);
  }
  return drawn;
}

test('at temperature 1 without filters, samples each token by its probability', () => {
  const drawn = share({});
  for (const [token, likely] of positions) expect(drawn.get(token)).toBeCloseTo(likely, 1);
});

test.each([
  [{ temperature: 0 }, [1]],
  [{ top_k: 2 }, [1, 2]],
  [{ top_p: 0.7 }, [1, 2]],
  [{ top_k: 2, top_p: 0.6 }, [1]],
  [{ min_p: 0.25 }, [1, 2, 3]],
  [{ top_p: 0 }, [1]],
  // Surprisal 0.69, 1.20, 1.90 and 3.00 nats, 1.14 expected: token 2 is nearest, then 1, then 3.
  [{ typical_p: 0.2 }, [2]],
  [{ typical_p: 0.5 }, [1, 2]],
  [{ typical_p: 0.9 }, [1, 2, 3]],
  [{ typical: 0.2 }, [2]],
  [{ typical_p: 0.9, top_k: 2 }, [1, 2]],
  [{ typical_p: 0.9, top_p: 0.5 }, [1]],
])('%j keeps the tokens %j', (body, left) => {
  expect([...share(body).keys()].sort()).toEqual(left);
});

test('a low temperature sharpens and a high one flattens', () => {
  expect(share({ temperature: 0.3 }).get(1)).toBeGreaterThan(0.75);
  expect(share({ temperature: 5 }).get(4)).toBeGreaterThan(0.15);
});

test('returns typical tokens best first, no impossible ones, and at least one', () => {
  const flat = new Map([
    [7, 0.4],
    [8, 0.4],
    [9, 0.2],
    [10, 0],
  ]);
  expect([...typical(flat, 0, 1).keys()]).toEqual([7, 8, 9]);
  expect(typical(flat, 0, 0).size).toBe(1);
});
