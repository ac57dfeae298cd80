import { QueryClient, QueryClientProvider, type UseQueryResult } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';
import { ApiError, lost } from '../api/api-error.ts';
import { Loaded } from './loaded.tsx';

vi.mock('../api/connection.ts', () => ({ useConnection: () => ({ up: true, since: 0, lastResponseAt: 0 }) }));
vi.mock('../api/session.tsx', () => ({ useSession: () => ({ sessionState: 'open' }) }));

const BROKEN = new ApiError({
  ...lost().info,
  status: 503,
  code: 'store.unavailable',
  message: 'It is full.',
});

function shown(query: { data: string | undefined; error: ApiError | null }): string {
  const read = { ...query, isError: query.error !== null, dataUpdatedAt: Date.now() };
  const props = {
    query: read as unknown as UseQueryResult<string>,
    what: 'the list',
    children: (text: string) => `(${text})`,
  };
  const loaded = createElement(Loaded<string>, props);
  return renderToStaticMarkup(createElement(QueryClientProvider, { client: new QueryClient() }, loaded));
}

it('keeps data after a failed refresh, under a notice with its time and the error', () => {
  expect(shown({ data: 'rows', error: null })).toBe('(rows)');
  const old = shown({ data: 'rows', error: BROKEN });
  expect(old).toMatch(
    /^<div[^>]* data-stale="true"[^>]*>.*As of .*the list could not be refreshed.*It is full\./,
  );
  expect(old).toMatch(/Try again.*\(rows\)$/);
});

it('shows an error or a skeleton without data', () => {
  expect(shown({ data: undefined, error: BROKEN })).toMatch(/role="alert".*It is full\./);
  expect(shown({ data: undefined, error: null })).not.toContain('It is full.');
});
