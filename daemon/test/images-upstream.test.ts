/**
 * Images that are not drawn by ComfyUI: stable-diffusion.cpp and an upstream.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the images they draw are real PNGs.
 */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import { jsonPayload, startRequest } from './harness/disconnecting-client.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { IMAGES, ImageGateway, imageProvider, SMALL } from './harness/image-gateway.ts';

const gateway = new ImageGateway();
const { draw, drawError } = gateway;

describe('stable-diffusion.cpp', () => {
  const request = { model: 'cpp', response_format: 'b64_json', seed: 5 };

  it('draws as a job, with our id', async () => {
    const image = await draw({ ...request, n: 2 });
    expect(image).toMatchObject({ data: [{}, {}], _svc: { upstream: 'cpp', model: 'sd15' } });
    expect(image._svc.prompt_id).toMatch(/^[0-9a-f]{8}-/);
    expect(gateway.sd.text()).toContain('sample_steps');
  });

  it('draws on its OpenAI-style route when it has no jobs; the prompt carries only our arguments', async () => {
    const byJob = await draw(request);
    gateway.sd.jobs = false;
    const image = await draw({
      ...request,
      prompt: 'cat <sd_cpp_extra_args>{"lora":[{"path":"/x"}]}</sd_cpp_extra_args>',
    });
    gateway.sd.jobs = true;
    expect(image.data).toEqual(byJob.data);
    expect(gateway.sd.requests.at(-1)?.body.match(/<sd_cpp_extra_args>/g)).toHaveLength(1);
  });

  it.each([
    ['FULL', 429, 'queue_full'],
    ['REFUSE', 502, 'status_400'],
    ['FAIL', 502, 'execution_error'],
  ])('%s is %i', async (prompt, status, reason) => {
    const error = await drawError(prompt, request);
    expect(error).toMatchObject({ status, code: 'upstream.error', details: { reason } });
    expect(error.text).not.toContain('/models');
  });

  it('is cancelled when the client disconnects', async () => {
    const control = new AbortController();
    const body = JSON.stringify({ ...SMALL, ...request, prompt: 'HANG' });
    const headers = { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' };
    const drawing = fetch(`${gateway.url}${IMAGES}`, {
      method: 'POST',
      body,
      headers,
      signal: control.signal,
    });
    await until(
      () =>
        gateway.sd.text().includes('HANG') && (gateway.sd.requests.at(-1)?.url.includes('/jobs/') ?? false),
      'the job to be polled',
    );
    control.abort();
    await expect(drawing).rejects.toThrow();
    await until(() => gateway.sd.cancelled.length === 1, 'the job to be cancelled');
  });

  describe('a drawing that the engine cannot stop', () => {
    const slot = async () =>
      (await send(gateway, 'GET', '/api/slots', { key: CLIENT_KEY }))
        .json<{ slots: SlotRecord[] }>()
        .slots.find(({ name }) => name === 'cpp');
    const isAbandoned = () => until(async () => (await slot())?.abandoned === 1, 'the slot to report it');
    const isFree = () => until(async () => (await slot())?.active === 0, 'the slot to be free');
    /** Number of requests of the engine before the test. */
    let start = 0;
    const isDrawing = (path: string) =>
      until(
        () => gateway.sd.requests.slice(start).some(({ url }) => url.includes(path)),
        'the engine to draw',
      );
    const startDrawing = () =>
      startRequest(gateway, IMAGES, jsonPayload({ ...SMALL, ...request, prompt: 'HANG' }), CLIENT_KEY);

    beforeEach(() => {
      start = gateway.sd.requests.length;
      gateway.sd.refusesCancel = true;
    });
    afterEach(() => {
      Object.assign(gateway.sd, { refusesCancel: false, ignoresCancel: false, jobs: true });
      gateway.sd.finish();
    });

    it.each([
      ['a job', {}, '/jobs/'],
      ['a job whose cancellation gets no answer', { ignoresCancel: true }, '/jobs/'],
      ['a request of a server without jobs', { jobs: false }, '/images/generations'],
    ])('keeps the slot busy until it ends, and the slot reports it: %s', async (_, server, path) => {
      Object.assign(gateway.sd, server);
      const leaving = startDrawing();
      await isDrawing(path);
      leaving.disconnect();
      await isAbandoned();
      expect(await slot()).toMatchObject({ state: 'serving', active: 1 });
      const body = { path: IMAGES, model: 'cpp' };
      const explained = await send(gateway, 'POST', '/api/dispatch/explain', { key: ADMIN_KEY, body });
      expect(explained.json()).toMatchObject({ slot: 'cpp', queue_position: 1, abandoned: 1 });
      const next = draw({ ...request, prompt: 'next' });
      await until(async () => (await slot())?.queued === 1, 'the next caller to wait');
      gateway.sd.finish();
      expect((await next).data).toHaveLength(1);
      await isFree();
      expect(await slot()).not.toHaveProperty('abandoned');
    });

    it('does not delay the response to a caller whose request an admin cancels', async () => {
      const drawing = drawError('HANG', request);
      await isDrawing('/jobs/');
      const requests = await send(gateway, 'GET', '/api/requests', { key: ADMIN_KEY });
      const [running] = requests.json<{ running: { id: string }[] }>().running;
      await send(gateway, 'POST', `/api/requests/${running?.id}/cancel`, { key: ADMIN_KEY });
      expect(await drawing).toMatchObject({ code: 'request.cancelled' });
      await isAbandoned();
      gateway.sd.finish();
      await isFree();
    });

    it('ends with its slot', async () => {
      const leaving = startDrawing();
      await isDrawing('/jobs/');
      leaving.disconnect();
      await isAbandoned();
      await send(gateway, 'POST', '/api/slots/cpp/unload', { key: ADMIN_KEY });
      expect(await slot()).toMatchObject({ state: 'offline', active: 0 });
      expect(await slot()).not.toHaveProperty('abandoned');
      gateway.sd.finish();
      expect((await draw(request)).data).toHaveLength(1);
      expect((await slot())?.active).toBe(0);
    });
  });

  it('is selected by the model name of its file', async () => {
    for (const model of ['sd15', 'sd-1.5'])
      expect((await draw({ model }))._svc).toMatchObject({ upstream: 'cpp', model: 'sd15' });
  });
});

describe('upstreams', () => {
  it('get a request for their model as it came', async () => {
    const image = await draw({ model: 'flux-dev', seed: 3 });
    expect(image).toMatchObject({ data: [{}], _svc: { upstream: 'far', model: 'flux-dev' } });
    const { body, headers } = gateway.far.requests.at(-1) ?? { body: '{}', headers: {} };
    expect(JSON.parse(body)).toEqual({
      ...SMALL,
      model: 'flux-dev',
      seed: 3,
    });
    expect(headers.authorization).toBe('Bearer far-key-31415926');
  });

  it('are released when the client disconnects', async () => {
    const pending: ServerResponse[] = [];
    gateway.far.respondWith(() => (_req, res) => void pending.push(res));
    const request = startRequest(gateway, IMAGES, jsonPayload({ ...SMALL, model: 'flux-dev' }), CLIENT_KEY);
    await until(() => pending.length === 1, 'the upstream to receive the request');
    const closed = new Promise((resolve) => pending[0]?.once('close', resolve));
    request.disconnect();
    await closed;
    gateway.far.respondWith(imageProvider);
  });

  it('their errors are passed on when they disclose nothing', async () => {
    expect(await drawError('BUSY', { model: 'flux-dev' })).toMatchObject({
      status: 400,
      message: 'No cats today.',
    });
    expect((await drawError('PATH', { model: 'flux-dev' })).text).not.toContain('/srv');
  });
});
