import { expect, test } from 'vitest';
import { sleepDetector } from './resume-watch.ts';

test('counts only time that the machine slept', () => {
  const time = { wall: 0, awake: 0 };
  const slept = sleepDetector({ wall: () => time.wall, awake: () => time.awake });
  const pass = (wall: number, awake: number) => {
    time.wall += wall;
    time.awake += awake;
    return slept();
  };
  expect(pass(10_000, 10_000)).toBe(false);
  expect(pass(60_000, 60_000)).toBe(false);
  expect(pass(3_600_000, 10_000)).toBe(true);
  expect(pass(10_000, 10_000)).toBe(false);
  expect(pass(-5000, 10_000)).toBe(false);
});
