import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { type ModelProblemView, ModelsResponse } from '../contract/models.ts';
import type { SlotRecord } from '../contract/slots.ts';
import type { Finding } from '../doctor/finding.ts';
import { possibleExamples, writeUnusable } from '../models/testing/unusable-examples.ts';
import { KEYS_FILE, startGateway } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { envFor, svcctl } from './harness/svcctl.ts';

const home = newHome();
const folder = join(home, 'weights');
const examples = possibleExamples();

const gateway = new OneGateway(() => {
  mkdirSync(folder, { recursive: true });
  for (const [, example] of examples) writeUnusable(folder, example);
  return startGateway({
    home,
    files: { ...KEYS_FILE, 'config/config.toml': `[models]\nfolders = ["${folder}"]\n` },
  });
});
const call = (method: string, path: string, body?: unknown) => gateway.sendAsAdmin(method, path, { body });

type Place = 'scan' | 'GET /api/models' | 'doctor' | 'svcctl models list';
const lines: Partial<Record<Place, readonly string[]>> = {};

/** One line for each file, in the same form for all places. */
const lineOf = ({ file, reason, advice }: ModelProblemView): string => `${file}: ${reason}. ${advice}`;

beforeAll(async () => {
  const scanned = (await call('POST', '/api/models/scan')).json<{ problems: ModelProblemView[] }>();
  lines.scan = scanned.problems.map(lineOf);
  const listed = ModelsResponse.parse((await call('GET', '/api/models')).json());
  lines['GET /api/models'] = listed.problems.map(lineOf);
  const env = envFor(gateway);
  const { findings } = (await svcctl(['doctor', '--json'], { env })).json<{ findings: Finding[] }>();
  lines.doctor = findings
    .filter(({ id }) => id === 'models')
    .map(({ message, fix }) => `${message} ${fix ?? ''}`);
  lines['svcctl models list'] = (await svcctl(['models', 'list'], { env })).out
    .split('\n')
    .filter((line) => line.startsWith('! '))
    .map((line) => line.slice(2));
});

const PLACES: readonly Place[] = ['scan', 'GET /api/models', 'doctor', 'svcctl models list'];

describe.each(PLACES)('%s names', (place) => {
  it.each(examples)('%s with the reason and the way out', (_, { file, reason }) => {
    const line = lines[place]?.find((one) => one.startsWith(`${file}: `));
    expect(line, lines[place]?.join('\n')).toMatch(reason);
    // The reason is a separate sentence. Another one says what to do.
    expect(line?.slice(file.length + 2)).toMatch(/^.+\.\s[A-Z].+\.$/);
    expect(line).not.toContain('null');
  });
});

test('an unusable model has no slot, is never the agent, and the demonstration model serves', async () => {
  const { models } = ModelsResponse.parse((await call('GET', '/api/models')).json());
  const model = models.find(({ id }) => id === 'glm5');
  expect(model).toMatchObject({
    architecture: 'glm5_next',
    fit: null,
    unserved: { reason: expect.stringContaining('glm5_next') },
  });
  const { slots } = (await call('GET', '/api/slots')).json<{ slots: SlotRecord[] }>();
  expect(slots.filter(({ model: held }) => ['glm5', 'llama-hf', 'pipeline'].includes(held ?? ''))).toEqual(
    [],
  );
  expect(slots.find(({ name }) => name === 'agent')).toMatchObject({ demo: true });
});

test.each([
  ['glm5', /does not know the architecture glm5_next\. Update the gateway/],
  ['llama-hf', /safetensors format, which only vLLM serves here\. Serve it with engine = "vllm"/],
])('a request for %s is refused with the reason', async (model, reason) => {
  const answer = await call('POST', '/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(answer.status).toBe(404);
  expect(answer.json<{ error: { message: string } }>().error.message).toMatch(reason);
});

test('a slot of the embedded engine refuses such a model with the reason; one of llama-server may have it', async () => {
  await call('POST', '/api/slots', { name: 'own', type: 'llm', model: 'glm5', autoload: false });
  const load = await call('POST', '/api/slots/own/load');
  expect(load.text).toMatch(/does not know the architecture glm5_next/);
  const unserved = async () =>
    ModelsResponse.parse((await call('GET', '/api/models')).json()).models.find(({ id }) => id === 'glm5')
      ?.unserved;
  expect(await unserved()).not.toBeNull();
  await call('PUT', '/api/slots/own', { engine: 'llama-server' });
  expect(await unserved()).toBeNull();
});
