/**
 * A workflow of the owner in a slot file (docs/spec/contract.md#image-slot-keys) over a real port. ComfyUI is a STAND-IN
 * that validates prompts with the node descriptions of the real one.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ComfyStandIn, comfyStandIn } from './harness/comfy-stand-in.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { type DrawnImages, IMAGES } from './harness/image-gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';

const WORKFLOW = {
  '3': {
    class_type: 'KSampler',
    inputs: {
      ...{ seed: 1, steps: 3, cfg: 8, sampler_name: 'dpmpp_2m', scheduler: 'karras', denoise: 1 },
      ...{ model: ['20', 0], positive: ['6', 0], negative: ['7', 0], latent_image: ['5', 0] },
    },
  },
  '4': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'dreamshaper_8.safetensors' } },
  '5': { class_type: 'EmptyLatentImage', inputs: { width: 128, height: 64, batch_size: 1 } },
  '6': { class_type: 'CLIPTextEncode', inputs: { text: 'x', clip: ['20', 1] } },
  '7': { class_type: 'CLIPTextEncode', inputs: { text: 'blurry', clip: ['20', 1] } },
  '8': { class_type: 'VAEDecode', inputs: { samples: ['3', 0], vae: ['4', 2] } },
  '20': {
    class_type: 'LoraLoader',
    inputs: {
      model: ['4', 0],
      clip: ['4', 1],
      lora_name: 'detail.safetensors',
      strength_model: 1,
      strength_clip: 1,
    },
  },
  '30': { class_type: 'SaveImage', inputs: { filename_prefix: 'ComfyUI', images: ['8', 0] } },
};

let comfy: ComfyStandIn;
beforeAll(async () => {
  comfy = await comfyStandIn();
});
afterAll(() => comfy?.stop());

const slot = (more: string) =>
  `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "${comfy.url}"\nautoload = false\n${more}`;
const gateway = new OneGateway(() =>
  startLocked({
    files: {
      'config/slots/agent.toml': 'enabled = false\n',
      'config/slots/art.toml': slot('workflow = "art.json"\n'),
      'config/slots/art.json': JSON.stringify(WORKFLOW),
      'config/slots/mapped.toml': slot(
        '[workflow]\nfile = "art.json"\n[workflow.inputs]\nprompt = ["6.text", "7.text"]\n',
      ),
      'config/slots/blank.toml': `# my slot\n${slot('')}`,
      'config/slots/text.toml': 'engine = "custom"\ncommand = ["none"]\nautoload = false\n',
      'config/slots/node.toml': slot('workflow = "node.json"\n'),
      'config/slots/node.json': JSON.stringify({
        ...WORKFLOW,
        '40': { class_type: 'UpscaleEverything', inputs: {} },
      }),
    },
  }),
);
const post = (body: object) =>
  send(gateway, 'POST', IMAGES, { body: { prompt: 'a fox', ...body }, key: CLIENT_KEY });
async function draw(body: object): Promise<DrawnImages> {
  const response = await post(body);
  expect(response.status, response.text.slice(0, 300)).toBe(200);
  return response.json<DrawnImages>();
}
const inputsOf = ({ _svc }: DrawnImages, node: string) => comfy.accepted.get(_svc.prompt_id)?.[node]?.inputs;

it('draws with the workflow; settings that the request does not name keep the values of the file', async () => {
  const image = await draw({ model: 'art', seed: 9 });
  expect(image._svc).toMatchObject({
    model: 'art',
    meta: { seed: 9, steps: 3, cfg: 8, width: 128, height: 64, family: 'workflow' },
  });
  expect(inputsOf(image, '6')?.text).toBe('a fox');
  expect(inputsOf(image, '7')?.text).toBe('blurry');
  expect(inputsOf(image, '3')).toMatchObject({ seed: 9, steps: 3, cfg: 8, sampler_name: 'dpmpp_2m' });
  expect(inputsOf(image, '30')).toMatchObject({ filename_prefix: 'ComfyUI' });
});

it('takes size, count, steps, cfg and negative prompt of a request', async () => {
  const extra_body = { steps: 5, cfg: 4, negative_prompt: 'dogs' };
  const image = await draw({ model: 'art', size: '64x64', n: 2, extra_body });
  expect(image.data).toHaveLength(2);
  expect(inputsOf(image, '5')).toEqual({ width: 64, height: 64, batch_size: 2 });
  expect(inputsOf(image, '3')).toMatchObject({ steps: 5, cfg: 4 });
  expect(inputsOf(image, '7')?.text).toBe('dogs');
});

it('a mapping of the slot file replaces the proposed one', async () => {
  const image = await draw({ model: 'mapped' });
  expect([inputsOf(image, '6')?.text, inputsOf(image, '7')?.text]).toEqual(['a fox', 'a fox']);
});

it('names a node and a file that ComfyUI does not have', async () => {
  const node = await post({ model: 'node' });
  expect(node.status).toBe(502);
  expect(node.text).toContain('ComfyUI has no node UpscaleEverything.');
  const { installed } = comfy;
  comfy.installed = { ...installed, loras: [] };
  const file = await post({ model: 'art' });
  comfy.installed = installed;
  expect(file.status).toBe(404);
  expect(file.text).toContain('lora_name: detail.safetensors');
});

it('follows changes of the file; an unusable one is a problem of the slot file', async () => {
  const path = join(gateway.home, 'config/slots/art.json');
  const changed = structuredClone(WORKFLOW);
  changed['3'].inputs.steps = 4;
  writeFileSync(path, JSON.stringify(changed));
  await until(async () => (await draw({ model: 'art' }))._svc.meta.steps === 4, 'the change to be read');
  const problems = async () =>
    (await send(gateway, 'GET', '/api/slots/art/settings', { key: ADMIN_KEY })).text;
  writeFileSync(path, JSON.stringify({ nodes: [], links: [] }));
  await until(async () => (await problems()).includes('Export (API)'), 'the problem to be reported');
  rmSync(path);
  await until(
    async () => (await problems()).includes('there is no file art.json'),
    'the problem to be reported',
  );
});

const put = (name: string, body: object, key = ADMIN_KEY) =>
  send(gateway, 'PUT', `/api/slots/${name}/workflow`, { body, key });
const slotFile = (name: string) => readFileSync(join(gateway.home, `config/slots/${name}`), 'utf8');

it('a workflow of a request is written beside the slot file, and replaces an earlier one', async () => {
  const inputs = { prompt: ['6.text'], seed: [], steps: ['3.steps'] };
  const saved = await put('blank', { file: 'mine.json', workflow: WORKFLOW, inputs });
  expect(saved.status, saved.text).toBe(200);
  expect(JSON.parse(slotFile('mine.json'))).toEqual(WORKFLOW);
  expect(slotFile('blank.toml')).toMatch(/^# my slot\n[\s\S]*\nworkflow = \{.*file = "mine.json"/);
  const image = await draw({ model: 'blank', seed: 9, extra_body: { steps: 6 } });
  expect(inputsOf(image, '3')).toMatchObject({ seed: 1, steps: 6 });
  expect(image._svc.meta.ignored).toEqual(['seed']);
  const changed = structuredClone(WORKFLOW);
  changed['3'].inputs.cfg = 2;
  const clash = await put('blank', { file: 'mine.json', workflow: changed, inputs: {} });
  expect([clash.status, clash.code]).toEqual([422, 'slot.invalid']);
  expect(clash.text).toContain('exists already');
  expect(JSON.parse(slotFile('mine.json'))).toEqual(WORKFLOW);
  expect((await put('blank', { file: 'mine.json', workflow: changed, replace: true })).status).toBe(200);
  const again = await draw({ model: 'blank', seed: 9 });
  expect(inputsOf(again, '3')).toMatchObject({ seed: 9, cfg: 2 });
});

it.each<[string, string, object, number, string]>([
  ['no workflow', 'blank', { file: 'a.json', workflow: { nodes: [] } }, 422, 'Export (API)'],
  [
    'no text node',
    'blank',
    { file: 'a.json', workflow: { 5: WORKFLOW['5'] } },
    422,
    'No input for the prompt',
  ],
  [
    'an input that is absent',
    'blank',
    { file: 'a.json', workflow: WORKFLOW, inputs: { seed: ['5.seed'] } },
    422,
    'has no input seed',
  ],
  [
    'a name that is a path',
    'blank',
    { file: '../a.json', workflow: WORKFLOW },
    422,
    'must be the name of a .json file',
  ],
  ['another engine', 'text', { file: 'a.json', workflow: WORKFLOW }, 422, 'workflow'],
  ['an unknown slot', 'absent', { file: 'a.json', workflow: WORKFLOW }, 404, 'absent'],
])('refuses %s and writes nothing', async (_, name, body, status, text) => {
  const before = slotFile('blank.toml');
  const refused = await put(name, body);
  expect(refused.status, refused.text).toBe(status);
  expect(refused.text).toContain(text);
  expect(slotFile('blank.toml')).toBe(before);
  expect(existsSync(join(gateway.home, 'config/slots/a.json'))).toBe(false);
});

it('a workflow is for admins', async () => {
  expect((await put('blank', { file: 'a.json', workflow: WORKFLOW }, CLIENT_KEY)).status).toBe(403);
});
