import OpenAI from 'openai';
import { CLIENT_KEY, type Gateway } from './gateway.ts';

export type OpenAIOptions = ConstructorParameters<typeof OpenAI>[0];

/** The official client with the client key, without retries by default. */
export const openaiClient = (gateway: Gateway, options: OpenAIOptions = {}): OpenAI =>
  new OpenAI({ apiKey: CLIENT_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0, ...options });

/** The same; records the status of every request that is sent. */
export function countingClient(
  gateway: Gateway,
  options: OpenAIOptions = {},
): { api: OpenAI; statuses: number[] } {
  const statuses: number[] = [];
  const api = openaiClient(gateway, {
    ...options,
    fetch: async (...request) => {
      const response = await fetch(...request);
      statuses.push(response.status);
      return response;
    },
  });
  return { api, statuses };
}

export const user = (content: string) => ({ role: 'user' as const, content });
