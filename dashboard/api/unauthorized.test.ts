import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { ApiError, lost } from './api-error.ts';
import { isRefused } from './unauthorized.ts';

const refusal = new ApiError({ ...lost().info, status: 401, code: 'auth.required' });

it('ignores other errors and inactive queries', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const fail = async (name: string, error: Error) => {
    const observer = new QueryObserver(client, { queryKey: [name], queryFn: () => Promise.reject(error) });
    const leave = observer.subscribe(() => {});
    await observer.refetch();
    return leave;
  };
  await fail('slots', lost());
  expect(isRefused(client)).toBe(false);
  const leave = await fail('settings', refusal);
  expect(isRefused(client)).toBe(true);
  leave();
  expect(isRefused(client)).toBe(false);
  client.clear();
});
