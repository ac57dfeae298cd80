import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, it, vi } from 'vitest';
import { keyOf } from './queries.ts';
import { staleReads } from './stale.ts';

afterEach(() => vi.useRealTimers());

it('what changes while it is being read is read once more, and is not broken off', async () => {
  vi.useFakeTimers();
  const client = new QueryClient();
  let state = 'old';
  const read = vi.fn(async () => {
    const seen = state;
    await new Promise((done) => setTimeout(done, 1000));
    return seen;
  });
  const observer = new QueryObserver(client, { queryKey: keyOf('settings'), queryFn: read });
  const leave = observer.subscribe(() => {});
  const note = staleReads(client, 300);
  await vi.advanceTimersByTimeAsync(100);
  state = 'new';
  note(['settings']);
  await vi.advanceTimersByTimeAsync(3000);
  expect(client.getQueryData(keyOf('settings'))).toBe('new');
  expect(read).toHaveBeenCalledTimes(2);
  leave();
  client.clear();
});
