import OpenAI from 'openai';
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

export const user = (content: string) => ({ role: 'user' as const, content });
