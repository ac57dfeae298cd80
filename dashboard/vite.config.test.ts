import { expect, it } from 'vitest';
import config from './vite.config.ts';

it('the page of npm run dev may change the gateway: its Host stays the one that its Origin names', () => {
  expect(Object.values(config.server?.proxy ?? {})).toEqual([
    expect.objectContaining({ changeOrigin: false }),
    expect.objectContaining({ changeOrigin: false, ws: true }),
  ]);
});
