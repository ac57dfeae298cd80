import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ModelsResponse, type ModelWithMemory, type V1ModelRecord } from '../contract/models.ts';
import type { SlotPlanView, SlotRecord } from '../contract/slots.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { encodeGguf, str } from '../models/testing/gguf/writer.ts';
import { KEYS_FILE, startGateway } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { OneGateway } from './harness/one-gateway.ts';

const home = newHome();
const folder = join(home, 'weights');
const gateway = new OneGateway(() => {
  writeWeights();
  return startGateway({
    home,
    files: {
      ...KEYS_FILE,
      'config/config.toml': `[models]\nfolders = ["${folder}"]\n`,
      'config/slots/agent.toml': 'autoload = false\nmodel = "plain"\n',
      'config/slots/eyes.toml': 'autoload = false\nengine = "llama-server"\nmodel = "seeing-Q8_0"\n',
    },
  });
});
const call = (method: string, path: string, body?: unknown) => gateway.sendAsAdmin(method, path, { body });
const find = async (id: string): Promise<ModelWithMemory | undefined> => {
  const response = (await call('GET', '/api/models')).json<{ models: ModelWithMemory[] }>();
  return ModelsResponse.parse(response).models.find((model) => model.id === id);
};

/** A projector file with the header keys that are read. */
const projector = () =>
  encodeGguf({
    keys: { 'general.architecture': str('clip'), 'general.type': str('mmproj') },
    tensors: [],
  });

/** Writes one model of each kind, and files that are no models. */
function writeWeights(): void {
  for (const inner of ['', 'seeing', 'Llama-Tensors']) mkdirSync(join(folder, inner), { recursive: true });
  writeFileSync(join(folder, 'plain.gguf'), encodeGguf(tinyChat({ name: 'plain' })));
  writeFileSync(join(folder, 'seeing', 'seeing-Q8_0.gguf'), encodeGguf(tinyChat({ name: 'seeing' })));
  writeFileSync(join(folder, 'seeing', 'mmproj-F16.gguf'), projector());
  writeFileSync(join(folder, 'bare.gguf'), encodeGguf(tinyChat({ name: 'bare', template: null })));
  writeFileSync(join(folder, 'broken.gguf'), 'GGUF and then nothing');
  writeFileSync(
    join(folder, 'Llama-Tensors', 'config.json'),
    JSON.stringify({
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      max_position_embeddings: 4096,
    }),
  );
  writeFileSync(join(folder, 'Llama-Tensors', 'model.safetensors'), Buffer.alloc(1000));
}

test('a scan reports models and invalid files; a projector belongs to the model in its folder', async () => {
  writeFileSync(join(folder, 'later.gguf'), encodeGguf(tinyEmbed()));
  const scanned = (await call('POST', '/api/models/scan')).json<{ problems: { file: string }[] }>();
  expect(scanned.problems.map(({ file }) => file)).toEqual(['broken.gguf', 'Llama-Tensors']);
  expect(await find('later')).toMatchObject({ type: 'embedding', source: 'scan', projector: false });
  expect(await find('seeing-Q8_0')).toMatchObject({ projector: true });
  expect(await find('plain')).toMatchObject({ projector: false, memory: {} });
  expect(await find('mmproj-F16')).toBeUndefined();
});

test('a model without a chat template names the built-in one in both lists and in the explanation', async () => {
  expect(await find('bare')).toMatchObject({ chat_template: 'chatml' });
  expect(await find('plain')).toMatchObject({ chat_template: null });
  const { data } = (await call('GET', '/v1/models')).json<{ data: V1ModelRecord[] }>();
  const shown = (id: string) => data.find((each) => each.id === id)?._svc.chat_template;
  expect([shown('bare'), shown('plain')]).toEqual(['chatml', undefined]);
  const explained = await call('POST', '/api/dispatch/explain', {
    path: '/v1/chat/completions',
    model: 'bare',
  });
  expect(explained.json()).toMatchObject({ chat_template: 'chatml' });
});

test('a model with a projector has vision with llama-server, and its launch plan names the projector', async () => {
  const { data } = (await call('GET', '/v1/models')).json<{ data: V1ModelRecord[] }>();
  const seeing = data.find(({ id }) => id === 'seeing-Q8_0');
  expect(seeing).toMatchObject({ capabilities: { vision: true }, _svc: { slot: 'eyes' } });
  expect(seeing?.architecture.input_modalities).toEqual(['text', 'image']);
  expect(data.find(({ id }) => id === 'plain')?.architecture.input_modalities).toEqual(['text']);
  const plan = (await call('GET', '/api/slots/eyes/plan')).json<SlotPlanView>();
  expect(JSON.stringify(plan.launch)).toMatch(/--mmproj.*mmproj-F16\.gguf/);
});

test('a registered model has its capabilities and fit', async () => {
  expect(await find('plain')).toMatchObject({
    capabilities: { vision: false },
    thinking_chosen: false,
    fit: { badge: 'fits', pool: 'host', evicts: [] },
  });
  expect(await find('Llama-Tensors')).toMatchObject({ fit: null });
});

test('a folder of safetensors is registered, and has no automatic slot because no engine serves it by default', async () => {
  expect(await find('Llama-Tensors')).toMatchObject({
    type: 'llm',
    format: 'safetensors',
    architecture: 'llama',
    context_length: 4096,
    size_bytes: 1000,
  });
  const { slots } = (await call('GET', '/api/slots')).json<{ slots: SlotRecord[] }>();
  expect(slots.some(({ model }) => model === 'Llama-Tensors')).toBe(false);
  const { data } = (await call('GET', '/v1/models')).json<{ data: { id: string }[] }>();
  expect(data.some(({ id }) => id === 'Llama-Tensors')).toBe(false);
});

test('the thinking default of a model can be set and survives a change of its file; null restores the original', async () => {
  const own = (await find('plain'))?.enable_thinking ?? null;
  const put = await call('PUT', '/api/models/plain', { enable_thinking: true });
  expect(put.json()).toMatchObject({ id: 'plain', enable_thinking: true });
  writeFileSync(join(folder, 'plain.gguf'), encodeGguf(tinyChat({ name: 'plain', width: 16 })));
  await call('POST', '/api/models/scan');
  expect(await find('plain')).toMatchObject({ enable_thinking: true });
  const back = await call('PUT', '/api/models/plain', { enable_thinking: null });
  expect(back.json()).toMatchObject({ enable_thinking: own });
});

test.each([
  [{}, 422, 'request.invalid'],
  [{ enable_thinking: 'yes' }, 422, 'request.invalid'],
  [{ binding: 'x' }, 422, 'request.invalid'],
  [{ binding: 'slot:none' }, 404, 'slot.not_found'],
  [{ binding: 'upstream:none' }, 404, 'upstream.not_found'],
])('PUT of %j is rejected', async (body, status, code) => {
  const response = await call('PUT', '/api/models/plain', body);
  expect([response.status, response.code]).toEqual([status, code]);
});

test('files of the operator are never deleted; a model registered by path is unregistered', async () => {
  const refused = await call('DELETE', '/api/models/plain');
  expect([refused.status, refused.code]).toEqual([409, 'model.kept']);
  const path = join(gateway.home, 'mine.gguf');
  writeFileSync(path, encodeGguf(tinyEmbed()));
  const registered = await call('POST', '/api/models/register', { path });
  expect(registered.json()).toMatchObject({ id: 'mine', source: 'register', type: 'embedding' });
  expect(registered.text).not.toContain(gateway.home);
  expect((await call('DELETE', '/api/models/mine')).json()).toEqual({ removed: 'mine', files: 0 });
  expect([existsSync(path), await find('mine')]).toEqual([true, undefined]);
});

test('a model that a slot has loaded is in use', async () => {
  await call('POST', '/api/slots/agent/load');
  const response = await call('DELETE', '/api/models/plain');
  expect([response.status, response.code]).toEqual([409, 'model.in_use']);
  expect(response.json()).toMatchObject({ error: { details: { slots: ['agent'] } } });
  await call('POST', '/api/slots/agent/unload');
});

test('a model can be bound to a slot with another model, like a swap', async () => {
  writeFileSync(join(folder, 'spare.gguf'), encodeGguf(tinyChat({ name: 'spare' })));
  await call('POST', '/api/models/scan');
  expect(await find('spare')).toMatchObject({ binding: 'slot:spare', binding_chosen: false });
  expect(await find('plain')).toMatchObject({ binding: null, binding_chosen: false });
  const moved = await call('PUT', '/api/models/spare', { binding: 'slot:agent' });
  expect(moved.json()).toMatchObject({ binding: 'slot:agent', binding_chosen: true });
  expect(readFileSync(join(gateway.home, 'config/slots/agent.toml'), 'utf8')).toContain('model = "spare"');
  const slotOf = async (model: string) =>
    (
      await call('POST', '/v1/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 1,
      })
    ).headers['x-svc-slot'];
  expect(await slotOf('spare')).toBe('agent');
  expect(await find('plain')).toMatchObject({ binding: 'slot:plain', binding_chosen: false });
  expect(await slotOf('plain')).toBe('plain');
  const other = await call('PUT', '/api/models/later', { binding: 'slot:agent' });
  expect([other.status, other.code]).toEqual([409, 'dispatch.capability_mismatch']);
  expect(await find('later')).toMatchObject({ binding: 'slot:embed', binding_chosen: false });
});

test.each([
  [{ path: 'relative.gguf' }, 422],
  [{ path: '/none/x.gguf' }, 422],
  [{ path: '/etc/passwd' }, 422],
  [{ path: '/\0' }, 422],
  [{}, 422],
])('register of %j is rejected with a reason', async (body, status) => {
  const response = await call('POST', '/api/models/register', body);
  expect([response.status, response.code]).toEqual([status, 'request.invalid']);
});
