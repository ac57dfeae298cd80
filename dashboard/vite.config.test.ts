import { expect, it } from 'vitest';
import config from './vite.config.ts';

it('npm run dev passes the Origin check: the proxy preserves Host', () => {
  expect(Object.values(config.server?.proxy ?? {})).toEqual([
    expect.objectContaining({ changeOrigin: false }),
    expect.objectContaining({ changeOrigin: false, ws: true }),
  ]);
});
