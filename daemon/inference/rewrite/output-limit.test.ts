import { expect, test } from 'vitest';
import { scanBody, TRANSLATED_NAMES } from './body-index.ts';
import { render } from './edits.ts';
import { answerLimit } from './output-limit.ts';

const body = Buffer.from('{"model":"m","max_tokens":9,"messages":[]}');
const sent = (origin: string | undefined, index = scanBody(body, TRANSLATED_NAMES)) =>
  render(index, answerLimit({ index, origin, local: false, thinkingDefault: () => null })).toString();

test.each([
  'https://api.openai.com',
  'https://eu.api.openai.com',
  'https://my-own.openai.azure.com',
  'https://my-own.services.ai.azure.com',
  'https://my-own.cognitiveservices.azure.com',
])('%s gets max_completion_tokens', (origin) =>
  expect(sent(origin)).toBe('{"model":"m","max_completion_tokens":9,"messages":[]}'),
);

test.each([
  'https://api.openai.com.evil.example',
  'https://openai.azure.com.evil.example',
  'https://my-own.azure.com',
  'http://127.0.0.1:8080',
  undefined,
])('%s gets max_tokens', (origin) => expect(sent(origin)).toBe(body.toString()));

test('a chat that is not translated stays unchanged', () =>
  expect(sent('https://api.openai.com', scanBody(body))).toBe(body.toString()));
