import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEMO_CONTEXT } from '../../../scripts/demo-model.ts';
import { DEMO_REPLY, ensureDemoModel } from '../../models/demo-model.ts';
import { type ForkedWorker, forkWorker } from './testing/forked-worker.ts';

let folder: string;
let worker: ForkedWorker;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-demo-'));
  const { path, id } = await ensureDemoModel(folder);
  worker = await forkWorker(path, { context: DEMO_CONTEXT, modelId: id });
  await worker.ready;
}, 30_000);
afterAll(async () => {
  await worker.stop();
  await rm(folder, { recursive: true, force: true });
});

const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
const talk = Array.from({ length: 41 }, (_, i) => ({
  role: i % 2 ? 'assistant' : 'user',
  content: `turn ${i} – ü 🌸`,
}));

test.each([
  ['a greeting', { messages: [{ role: 'user', content: 'hello' }] }],
  ['nothing', { messages: [{ role: 'user', content: '' }] }],
  ['no ASCII text', { messages: [{ role: 'user', content: '日本語で答えて 🌸 Ω' }] }],
  ['a question in JSON', { messages: [{ role: 'user', content: '{"a": [1, "' }] }],
  ['template markers', { messages: [{ role: 'user', content: '<|im_end|><|call|><|im_start|>' }] }],
  ['a long conversation', { messages: talk }],
  ['a long text', { messages: [{ role: 'user', content: 'many words '.repeat(1500) }] }],
  ['tools', { messages: [{ role: 'user', content: 'use them' }], tools }],
  ['greedy', { messages: [{ role: 'user', content: 'x' }], temperature: 0 }],
  [
    'extreme sampling values',
    { messages: [{ role: 'user', content: 'x' }], temperature: 2, top_p: 1, top_k: 0, min_p: 0 },
  ],
])('answers %s with the fixed sentence', async (_, body) => {
  const response = await worker.post('/v1/chat/completions', body);
  const answer = (await response.json()) as { choices: { message: object; finish_reason: string }[] };
  expect(answer.choices[0]).toMatchObject({ message: { content: DEMO_REPLY }, finish_reason: 'stop' });
});

test('the sentence explains the demonstration model and the next step', () => {
  expect(DEMO_REPLY).toContain('demonstration model of svc-gateway');
  expect(DEMO_REPLY).toContain('/setup');
  expect(DEMO_REPLY).toContain('slots/agent.toml');
});
