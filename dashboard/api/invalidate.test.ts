import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, it, vi } from 'vitest';
import { refreshAll, throttledInvalidation } from './invalidate.ts';
import { keyOf } from './queries.ts';

afterEach(() => vi.useRealTimers());

it('refetches a query that changed while it was being fetched, without cancelling it', async () => {
  vi.useFakeTimers();
  const client = new QueryClient();
  let state = 'old';
  const read = vi.fn(async () => {
    const current = state;
    await new Promise((done) => setTimeout(done, 1000));
    return current;
  });
  const observer = new QueryObserver(client, { queryKey: keyOf('settings'), queryFn: read });
  const leave = observer.subscribe(() => {});
  const note = throttledInvalidation(client, 300);
  await vi.advanceTimersByTimeAsync(100);
  state = 'new';
  note(['settings']);
  await vi.advanceTimersByTimeAsync(3000);
  expect(client.getQueryData(keyOf('settings'))).toBe('new');
  expect(read).toHaveBeenCalledTimes(2);
  leave();
  client.clear();
});

it('does not refresh queries that only the user refreshes', async () => {
  const client = new QueryClient();
  const read = vi.fn(async () => 'read');
  const leave = (['settings', 'model.search'] as const).map((id) =>
    new QueryObserver(client, { queryKey: keyOf(id), queryFn: read }).subscribe(() => {}),
  );
  await vi.waitFor(() => expect(client.isFetching()).toBe(0), 20_000);
  refreshAll(client);
  await vi.waitFor(() => expect(client.isFetching()).toBe(0), 20_000);
  expect(read).toHaveBeenCalledTimes(3);
  for (const each of leave) each();
  client.clear();
});
