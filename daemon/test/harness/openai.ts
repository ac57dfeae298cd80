import OpenAI, { type APIError } from 'openai';
import { expect } from 'vitest';
import { CLIENT_KEY, type Gateway } from './gateway.ts';

export type OpenAIOptions = ConstructorParameters<typeof OpenAI>[0];

/** The official client with the client key; it does not retry unless told so. */
export const openaiClient = (gateway: Gateway, options: OpenAIOptions = {}): OpenAI =>
  new OpenAI({ apiKey: CLIENT_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0, ...options });

/** The same, noting the status of every request that really goes out. */
export function countingClient(
  gateway: Gateway,
  options: OpenAIOptions = {},
): { api: OpenAI; statuses: number[] } {
  const statuses: number[] = [];
  const api = openaiClient(gateway, {
    ...options,
    fetch: async (...request) => {
      const answer = await fetch(...request);
      statuses.push(answer.status);
      return answer;
    },
  });
  return { api, statuses };
}

/** The error of a call that must fail with this class. */
export async function failure<T extends APIError>(
  promise: Promise<unknown>,
  kind: new (...args: never[]) => T,
): Promise<T> {
  const error = await promise.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(kind);
  return error as T;
}

export const user = (content: string) => ({ role: 'user' as const, content });
