/**
 * spec "Images" over a real port: the official client, the checks, the cache route, and engines that fail, hang, lose
 * jobs or answer nonsense. ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights);
 * the pictures they draw are real PNGs.
 */
import { existsSync, readdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { NotFoundError, UnprocessableEntityError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { ImagesResponse } from '../contract/images.ts';
import type { V1ModelRecord } from '../contract/models.ts';
import { readPng } from '../kit/png.ts';
import { type ComfyStandIn, comfyStandIn } from './harness/comfy-stand-in.ts';
import { drawnPng } from './harness/drawn-png.ts';
import { ADMIN_KEY, CLIENT_KEY, type Gateway, KEYS_FILE, startGateway, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { begin, jsonPayload } from './harness/leaver.ts';
import { failure, openaiClient } from './harness/openai.ts';
import { type SdStandIn, sdStandIn } from './harness/sd-stand-in.ts';
import { json, type StandIn, standIn } from './harness/stand-in.ts';
import { pointing, svcctl } from './harness/svcctl.ts';

const PATH = '/v1/images/generations';
let comfy: ComfyStandIn;
let sd: SdStandIn;
let far: StandIn;
let gateway: Gateway;
let openai: OpenAI;

const attached = (engine: string, url: string, more = '') =>
  `type = "image"\nengine = "${engine}"\nrunner = "attach"\nurl = "${url}"\nautoload = false\n${more}`;

beforeAll(async () => {
  [comfy, sd, far] = await Promise.all([comfyStandIn(), sdStandIn(), standIn(painter)]);
  gateway = await startGateway({
    env: { SVC_REQUIRE_AUTH: 'on', UPSTREAM_FAR: 'far-key-31415926' },
    files: {
      ...KEYS_FILE,
      'config/config.toml': '[slots]\nqueue_max = 1\n',
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/img.toml': attached('comfyui', comfy.url, 'model = "sdxl-turbo"\n'),
      'config/slots/cpp.toml': attached('sd-server', sd.url, 'model = "v1-5-pruned-emaonly"\n'),
      'config/slots/bare.toml': attached('comfyui', comfy.url),
      'config/upstreams/far.toml': `base_url = "${far.url}/v1"\nkey_env = "UPSTREAM_FAR"\nmodels = ["flux-dev"]\n`,
    },
  });
  openai = openaiClient(gateway);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([comfy?.down(), sd?.down(), far?.down()]);
  gateway?.remove();
});

/** An upstream that speaks like OpenAI's. */
const painter = ({ url, body }: { url: string; body: string }) => {
  if (url.endsWith('/models')) return json(200, { data: [{ id: 'flux-dev' }] });
  if (body.includes('BUSY')) return json(400, { error: { message: 'No cats today.', code: 'nope' } });
  if (body.includes('PATH')) return json(500, { error: { message: 'cannot read /srv/models/flux.bin' } });
  const b64_json = drawnPng({ width: 64, height: 64, seed: 1 }).toString('base64');
  return json(200, { created: 1, data: [{ b64_json }] });
};

const small = { model: 'sdxl', prompt: 'a cat', size: '64x64' as const };
const post = (body: object, key = CLIENT_KEY) => ask(gateway, 'POST', PATH, { body, key });
const draw = async (body: object) => {
  const answer = await post({ ...small, ...body });
  expect(answer.text.slice(0, 300)).toContain('"created"');
  return answer.json<ImagesResponse & { data: { url: string; b64_json: string }[] }>();
};
const problem = async (prompt: string, more: object = {}) => {
  const answer = await post({ ...small, prompt, ...more });
  const { error } = answer.json<{ error: { code: string; message: string; details?: object } }>();
  return { status: answer.status, text: answer.text, ...error };
};
const folder = () => join(gateway.home, 'state', 'images');
const fetchBytes = (path: string, key: string | undefined = CLIENT_KEY) =>
  fetch(`${gateway.url}${path}`, { headers: key ? { authorization: `Bearer ${key}` } : {} });

describe('the official client', () => {
  it('gets a relative url of a PNG of the size it asked for', async () => {
    const made = await openai.images.generate({ ...small, size: '512x512' });
    const [url] = (made.data ?? []).map((each) => each.url);
    expect(url).toMatch(/^\/api\/images\/cache\/[0-9a-f-]{36}\.png$/);
    const answer = await fetchBytes(url as string);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, max-age=3600, immutable',
    });
    const png = readPng(Buffer.from(await answer.arrayBuffer()), 4096);
    expect([png.width, png.height]).toEqual([512, 512]);
  });

  it('gets base64 when it asks for that, and nothing is kept', async () => {
    const before = readdirSync(folder()).length;
    const made = await openai.images.generate({
      ...small,
      n: 2,
      response_format: 'b64_json',
      size: '256x256',
    });
    const bytes = (made.data ?? []).map((each) => Buffer.from(each.b64_json as string, 'base64'));
    expect(bytes.map((each) => readPng(each, 4096).width)).toEqual([256, 256]);
    expect(bytes[0]?.equals(bytes[1] as Buffer)).toBe(false);
    expect(readdirSync(folder())).toHaveLength(before);
  });

  it('is told what is wrong as its own error classes', async () => {
    const blank = await failure(openai.images.generate({ ...small, prompt: ' ' }), UnprocessableEntityError);
    expect(blank.code).toBe('image.prompt_required');
    const unknown = await failure(openai.images.generate({ ...small, model: 'dall-e-3' }), NotFoundError);
    expect(unknown.code).toBe('image.model_not_curated');
  });
});

it('the list names what the loaded engine has, under show_all only', async () => {
  const listed = async (query: string) => {
    const answer = await ask(gateway, 'GET', `/v1/models${query}`);
    return answer
      .json<{ data: V1ModelRecord[] }>()
      .data.filter(({ capabilities }) => capabilities.image_generation);
  };
  await until(
    async () => (await listed('?show_all=true')).some(({ id }) => id === 'sdxl'),
    'the files to be known',
  );
  const all = await listed('?show_all=true');
  const owners = Object.fromEntries(all.map(({ id, owned_by, _svc }) => [id, [owned_by, _svc.slot]]));
  expect(owners).toMatchObject({ sdxl: ['svc', 'img'], 'sdxl-turbo': ['svc', 'img'], sd15: ['svc', 'cpp'] });
  expect((await listed('')).map(({ id }) => id)).toEqual([]);
  expect((await ask(gateway, 'GET', '/v1/models/sdxl')).json()).toMatchObject({
    id: 'sdxl',
    owned_by: 'svc',
  });
});

describe('the answer', () => {
  it('names seed, model, job and who drew; the same seed draws the same', async () => {
    const asked = {
      extra_body: { seed: 7, steps: 3, cfg: 5, negative_prompt: 'dogs' },
      response_format: 'b64_json',
    };
    const [first, again, other] = [
      await draw(asked),
      await draw(asked),
      await draw({ ...asked, extra_body: {}, seed: 8 }),
    ];
    expect(first._svc).toMatchObject({
      model: 'sdxl',
      upstream: 'img',
      meta: { seed: 7, steps: 3, cfg: 5, width: 64, height: 64, sampler: 'euler', family: 'sdxl' },
    });
    expect(comfy.taken.has(first._svc.prompt_id)).toBe(true);
    expect(again.data).toEqual(first.data);
    expect(other._svc.meta.seed).toBe(8);
    expect(other.data).not.toEqual(first.data);
  });

  it('holds nothing that the engine wrote into the picture', async () => {
    const { data } = await draw({ response_format: 'b64_json' });
    const bytes = Buffer.from(data[0]?.b64_json ?? '', 'base64').toString('latin1');
    expect(bytes).toContain('IDAT');
    for (const word of ['tEXt', 'safetensors', 'a cat', '/home']) expect(bytes).not.toContain(word);
  });

  it.each(['sdxl', 'sdxl-base', 'sd_xl_base_1.0.safetensors', 'sdxl-turbo', 'flux-schnell', 'flux'])(
    '%s is drawn with the files that are there',
    async (model) => {
      const made = await draw({ model, extra_body: { cfg: 2, negative_prompt: 'dogs' } });
      const expected = model.startsWith('flux') ? ['cfg', 'negative_prompt'] : undefined;
      expect(made._svc.meta.ignored).toEqual(expected);
    },
  );

  it('a slot by its name or virtual name means its model', async () => {
    for (const model of ['img', 'svc/img']) expect((await draw({ model }))._svc.model).toBe('sdxl-turbo');
    expect(await problem('a cat', { model: 'bare' })).toMatchObject({ code: 'image.model_not_curated' });
    expect(await problem('a cat', { model: 'agent' })).toMatchObject({ code: 'image.model_not_curated' });
  });

  it('a job whose id an old engine chose is followed under that id', async () => {
    comfy.takesIds = false;
    const made = await draw({ prompt: 'SLOW cat', steps: 2 });
    comfy.takesIds = true;
    expect(comfy.taken.has(made._svc.prompt_id)).toBe(true);
  });

  it('lets the engine forget the prompt', async () => {
    const { _svc } = await draw({});
    expect(comfy.heard).toContain(`POST /history ${JSON.stringify({ delete: [_svc.prompt_id] })}`);
  });
});

describe('B14 checks', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ n: 9 }, 'n'],
    [{ n: 1e9 }, 'n'],
    [{ n: 1.5 }, 'n'],
    [{ size: '99999x99999' }, 'size'],
    [{ size: '64x65' }, 'size'],
    [{ size: '56x64' }, 'size'],
    [{ response_format: 'jpeg' }, 'response_format'],
    [{ extra_body: { steps: 1e6 } }, 'steps'],
    [{ extra_body: { seed: 'NaN' } }, 'seed'],
    [{ seed: -2 }, 'seed'],
    [{ cfg: 31 }, 'cfg'],
    [{ extra_body: [] }, 'extra_body'],
    [{ prompt: 'x'.repeat(32_001) }, 'prompt'],
    [{ model: 'sdxl-turbo', steps: 11 }, 'steps'],
  ])('a body with a bad $1 (case %#) is refused before the engine', async (body, param) => {
    const heard = comfy.heard.length;
    const answer = await post({ ...small, ...body });
    expect([answer.status, answer.code]).toEqual([422, 'request.invalid']);
    expect(answer.json()).toMatchObject({ error: { param } });
    expect(comfy.heard.slice(heard).filter((each) => each.includes('/prompt'))).toEqual([]);
  });

  it('needs a key', async () => {
    expect((await ask(gateway, 'POST', PATH, { body: small })).status).toBe(401);
  });
});

describe('I04 what goes wrong at ComfyUI', () => {
  it.each([
    ['FAIL', 502, 'upstream.error', 'execution_error'],
    ['OOM', 507, 'slot.no_memory', 'out_of_memory'],
    ['WARN', 502, 'upstream.error', 'invalid_graph'],
    ['NOTHING', 502, 'upstream.error', 'bad_answer'],
    ['HTML', 502, 'upstream.error', 'bad_image'],
    ['CUT', 502, 'upstream.error', 'bad_image'],
    ['HUGE', 502, 'upstream.error', 'bad_image'],
    ['LOSE', 502, 'upstream.error', 'lost'],
  ])('%s is %i %s', async (prompt, status, code, reason) => {
    const before = readdirSync(folder()).length;
    const told = await problem(prompt);
    expect(told).toMatchObject({ status, code, details: { reason } });
    expect(told.text).not.toMatch(/\/home|secret|safetensors|torch|Traceback/);
    expect(readdirSync(folder())).toHaveLength(before);
  });

  it('a curated model whose files are not installed is 404 by its name', async () => {
    const { installed } = comfy;
    comfy.installed = { ...installed, checkpoints: ['/home/owner/private.safetensors'] };
    const told = await problem('a cat', { model: 'sdxl' });
    comfy.installed = installed;
    expect(told).toMatchObject({
      status: 404,
      code: 'model.not_found',
      details: { reason: 'not_installed' },
    });
    expect(told.text).not.toContain('private');
  });

  it('an engine without WebSockets, or whose socket is cut, is asked for its history', async () => {
    comfy.sockets = false;
    await draw({});
    comfy.sockets = true;
    const drawing = draw({ prompt: 'SLOW', steps: 3 });
    await until(() => comfy.heard.at(-1)?.startsWith('GET /queue') ?? false, 'the job to be looked at');
    comfy.cutSockets();
    expect((await drawing).data).toHaveLength(1);
  });

  it('progress is told as events, to clients too', async () => {
    const events = await fetch(`${gateway.url}/api/events`, {
      headers: { authorization: `Bearer ${CLIENT_KEY}` },
    });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    const made = await draw({ prompt: 'SLOW', steps: 5 });
    const seen: GatewayEvents['image'][] = [];
    for (let text = ''; seen.at(-1)?.state !== 'done'; ) {
      text += (await reader?.read())?.value ?? '';
      seen.splice(0, seen.length, ...imageEvents(text));
    }
    await reader?.cancel();
    const about = { id: made._svc.prompt_id, model: 'sdxl', slot: 'img' };
    expect(seen[0]).toMatchObject({ ...about, state: 'drawing' });
    expect(seen.some(({ progress }) => progress !== null && progress > 0 && progress < 1)).toBe(true);
    expect(JSON.stringify(seen)).not.toContain('SLOW');
  });
});

const imageEvents = (text: string) =>
  [...text.matchAll(/event: image\ndata: (.*)\n\n/g)].map(
    ([, data]) => JSON.parse(data as string) as GatewayEvents['image'],
  );

describe('leaving', () => {
  /** Asks, and leaves when `when` holds; answers the milliseconds until `then` holds. */
  async function leave(body: object, when: () => boolean, then: () => boolean): Promise<number> {
    const payload = JSON.stringify({ ...small, ...body });
    const req = request(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' },
    });
    req.on('error', () => {});
    req.end(payload);
    await until(when, 'the engine to have the job');
    const left = performance.now();
    req.destroy();
    await until(then, 'the engine to be told');
    return performance.now() - left;
  }

  it('a caller who leaves has the running job interrupted, and nobody else’s', async () => {
    const before = comfy.interrupted.length;
    const took = await leave(
      { prompt: 'HANG' },
      () => comfy.queued().length === 1,
      () => comfy.interrupted.length > before,
    );
    // The bound is 250 ms; the rest is for a loaded machine.
    expect(took).toBeLessThan(2_000);
    await until(() => comfy.queued().length === 0, 'the engine to be free');
    expect((await draw({})).data).toHaveLength(1);
  });

  it('a job that waits behind somebody else’s is taken out of the queue, and theirs goes on', async () => {
    const theirs = await startForeignJob();
    const before = comfy.interrupted.length;
    await leave(
      { prompt: 'SLOW' },
      () => comfy.queued().length === 2,
      () => comfy.queued().length === 1,
    );
    expect(comfy.queued()).toEqual([theirs]);
    expect(comfy.interrupted).toHaveLength(before);
    await fetch(`${comfy.url}/interrupt`, { method: 'POST', body: JSON.stringify({ prompt_id: theirs }) });
    await until(() => comfy.queued().length === 0, 'the engine to be free');
  });

  /** A job that the gateway knows nothing of, as an owner starts it in ComfyUI's own window. */
  async function startForeignJob(): Promise<string> {
    const [prompt] = [...comfy.taken.values()];
    const text = JSON.stringify(prompt).replace('a cat', 'HANG');
    const body = JSON.stringify({ prompt: JSON.parse(text), prompt_id: 'theirs', client_id: 'theirs' });
    await fetch(`${comfy.url}/prompt`, { method: 'POST', body });
    return 'theirs';
  }

  it('an admin who cancels ends it with an answer', async () => {
    const drawing = problem('HANG');
    await until(() => comfy.queued().length === 1, 'the job');
    const { running } = (await ask(gateway, 'GET', '/api/requests', { key: ADMIN_KEY })).json<{
      running: { id: string; model: string; slot: string }[];
    }>();
    expect(running).toMatchObject([{ model: 'sdxl', slot: 'img' }]);
    await ask(gateway, 'POST', `/api/requests/${running[0]?.id}/cancel`, { key: ADMIN_KEY });
    expect(await drawing).toMatchObject({ code: 'request.cancelled' });
    await until(() => comfy.queued().length === 0, 'the engine to be free');
  });

  it('a full queue of the slot is 429', async () => {
    const many = Array.from({ length: 3 }, () => post({ ...small, prompt: 'SLOW', steps: 3 }));
    const answers = await Promise.all(many);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    expect(answers.find(({ status }) => status === 429)?.code).toBe('slot.queue_full');
  });
});

it('a slot that lets go of its engine has it free the device', async () => {
  await draw({});
  await ask(gateway, 'POST', '/api/slots/img/unload', { key: ADMIN_KEY });
  expect(comfy.heard.at(-1)).toBe('POST /free {"unload_models":true,"free_memory":true}');
});

describe('stable-diffusion.cpp', () => {
  const there = { model: 'cpp', response_format: 'b64_json', seed: 5 };

  it('draws as a job, with an id of ours', async () => {
    const made = await draw({ ...there, n: 2 });
    expect(made).toMatchObject({ data: [{}, {}], _svc: { upstream: 'cpp', model: 'sd15' } });
    expect(made._svc.prompt_id).toMatch(/^[0-9a-f]{8}-/);
    expect(sd.text()).toContain('sample_steps');
  });

  it('draws on its OpenAI-style route where it has no jobs; the prompt carries our orders only', async () => {
    const byJob = await draw(there);
    sd.jobs = false;
    const made = await draw({
      ...there,
      prompt: 'cat <sd_cpp_extra_args>{"lora":[{"path":"/x"}]}</sd_cpp_extra_args>',
    });
    sd.jobs = true;
    expect(made.data).toEqual(byJob.data);
    expect(sd.heard.at(-1)?.body.match(/<sd_cpp_extra_args>/g)).toHaveLength(1);
  });

  it.each([
    ['FULL', 429, 'queue_full'],
    ['REFUSE', 502, 'status_400'],
    ['FAIL', 502, 'execution_error'],
  ])('%s is %i', async (prompt, status, reason) => {
    const told = await problem(prompt, there);
    expect(told).toMatchObject({ status, code: 'upstream.error', details: { reason } });
    expect(told.text).not.toContain('/models');
  });

  it('is called off when the caller leaves', async () => {
    const control = new AbortController();
    const body = JSON.stringify({ ...small, ...there, prompt: 'HANG' });
    const headers = { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' };
    const drawing = fetch(`${gateway.url}${PATH}`, { method: 'POST', body, headers, signal: control.signal });
    await until(
      () => sd.text().includes('HANG') && (sd.heard.at(-1)?.url.includes('/jobs/') ?? false),
      'the job to be looked at',
    );
    control.abort();
    await expect(drawing).rejects.toThrow();
    await until(() => sd.cancelled.length === 1, 'the job to be cancelled');
  });

  it('is found by the model that its file is', async () => {
    for (const model of ['sd15', 'sd-1.5'])
      expect((await draw({ model }))._svc).toMatchObject({ upstream: 'cpp', model: 'sd15' });
  });
});

describe('upstreams', () => {
  it('draw what no slot holds, with what the caller named and nothing more', async () => {
    const made = await draw({ model: 'flux-dev', seed: 3 });
    expect(made).toMatchObject({ data: [{}], _svc: { upstream: 'far', model: 'flux-dev' } });
    const { body, headers } = far.heard.at(-1) ?? { body: '{}', headers: {} };
    expect(JSON.parse(body)).toEqual({
      model: 'flux-dev',
      prompt: 'a cat',
      n: 1,
      size: '64x64',
      response_format: 'b64_json',
      seed: 3,
    });
    expect(headers.authorization).toBe('Bearer far-key-31415926');
  });

  it('are let go when the caller leaves', async () => {
    const held: ServerResponse[] = [];
    far.play(() => (_req, res) => void held.push(res));
    const leaver = begin(gateway, PATH, jsonPayload({ ...small, model: 'flux-dev' }), CLIENT_KEY);
    await until(() => held.length === 1, 'the upstream to be asked');
    const closed = new Promise((resolve) => held[0]?.once('close', resolve));
    leaver.leave();
    await closed;
    far.play(painter);
  });

  it('their errors are told when they are harmless', async () => {
    expect(await problem('BUSY', { model: 'flux-dev' })).toMatchObject({
      status: 400,
      message: 'No cats today.',
    });
    expect((await problem('PATH', { model: 'flux-dev' })).text).not.toContain('/srv');
  });
});

describe('svcctl image', () => {
  const run = (args: string[]) => svcctl(['image', ...args], { env: pointing(gateway) });

  it('writes the picture into a file, never over one that is there', async () => {
    const file = join(gateway.home, 'cat.png');
    const first = await run(['--model', 'sdxl', '--size', '64x128', '-o', file, 'a', 'cat']);
    expect(first).toMatchObject({ code: 0, out: `${file}\n`, err: '' });
    expect(readPng(readFileSync(file), 4096)).toMatchObject({ width: 64, height: 128 });
    expect(await run(['-o', file, 'a cat'])).toMatchObject({ code: 5 });
    expect((await run(['-o', file, '--force', 'a cat'])).code).toBe(0);
    expect(readPng(readFileSync(file), 4096).width).toBe(512);
  });

  it('leaves no empty file behind when nothing was drawn', async () => {
    const file = join(gateway.home, 'none.png');
    const failed = await run(['--model', 'sdxl', '-o', file, 'FAIL']);
    expect(failed).toMatchObject({ code: 1, out: '' });
    expect(failed.err).toContain('(upstream.error)');
    expect(existsSync(file)).toBe(false);
  });
});

describe('I02 the cache route', () => {
  const unknown = '/api/images/cache/00000000-0000-4000-8000-000000000000.png';

  it.each([
    ['nobody', undefined, 401],
    ['a client', CLIENT_KEY, 404],
    ['an admin', ADMIN_KEY, 404],
  ])('an unknown id for %s', async (_, key, status) => {
    expect((await ask(gateway, 'GET', unknown, { key })).status).toBe(status);
  });

  it('takes ids of kept pictures and nothing else', async () => {
    const outside = join(gateway.home, 'config', 'api.env');
    const id = '00000000-0000-4000-8000-00000000000a';
    symlinkSync(outside, join(folder(), `${id}.png`));
    writeFileSync(join(folder(), '00000000-0000-4000-8000-00000000000b.png'), '<svg/>');
    const names = [
      `${id}.png`,
      '00000000-0000-4000-8000-00000000000b.png',
      '..%2f..%2fconfig%2fapi.env.png',
      '..%2f..%2fconfig%2fapi.env%00.png',
      '%2e%2e%5c%2e%2e%5capi.env.png',
      `${id.toUpperCase()}.png`,
      `${id}.PNG`,
      `${id}.png.png`,
      `${id}%0a.png`,
      `x/${id}.png`,
      `../cache/${id}.png`,
      '.png',
    ];
    for (const name of names) {
      const answer = await ask(gateway, 'GET', `/api/images/cache/${name}`, { key: CLIENT_KEY });
      expect([400, 403, 404], `${name}: ${answer.status}`).toContain(answer.status);
      expect(answer.text).not.toContain('SVC_');
    }
    unlinkSync(join(folder(), `${id}.png`));
  });

  it('HEAD tells the length without the picture', async () => {
    const { data } = await draw({});
    const answer = await ask(gateway, 'HEAD', data[0]?.url ?? '', { key: CLIENT_KEY });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(100);
  });
});
