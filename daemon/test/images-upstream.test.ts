/**
 * Pictures that are not drawn by ComfyUI: on stable-diffusion.cpp, and on an upstream.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the pictures they draw are real PNGs.
 */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { begin, jsonPayload } from './harness/disconnecting-client.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { IMAGES, ImageGateway, painter, SMALL } from './harness/image-gateway.ts';

const here = new ImageGateway();
const { draw, problem } = here;

describe('stable-diffusion.cpp', () => {
  const there = { model: 'cpp', response_format: 'b64_json', seed: 5 };

  it('draws as a job, with an id of ours', async () => {
    const made = await draw({ ...there, n: 2 });
    expect(made).toMatchObject({ data: [{}, {}], _svc: { upstream: 'cpp', model: 'sd15' } });
    expect(made._svc.prompt_id).toMatch(/^[0-9a-f]{8}-/);
    expect(here.sd.text()).toContain('sample_steps');
  });

  it('draws on its OpenAI-style route where it has no jobs; the prompt carries our orders only', async () => {
    const byJob = await draw(there);
    here.sd.jobs = false;
    const made = await draw({
      ...there,
      prompt: 'cat <sd_cpp_extra_args>{"lora":[{"path":"/x"}]}</sd_cpp_extra_args>',
    });
    here.sd.jobs = true;
    expect(made.data).toEqual(byJob.data);
    expect(here.sd.heard.at(-1)?.body.match(/<sd_cpp_extra_args>/g)).toHaveLength(1);
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
    const body = JSON.stringify({ ...SMALL, ...there, prompt: 'HANG' });
    const headers = { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' };
    const drawing = fetch(`${here.url}${IMAGES}`, {
      method: 'POST',
      body,
      headers,
      signal: control.signal,
    });
    await until(
      () => here.sd.text().includes('HANG') && (here.sd.heard.at(-1)?.url.includes('/jobs/') ?? false),
      'the job to be looked at',
    );
    control.abort();
    await expect(drawing).rejects.toThrow();
    await until(() => here.sd.cancelled.length === 1, 'the job to be cancelled');
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
    const { body, headers } = here.far.heard.at(-1) ?? { body: '{}', headers: {} };
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
    here.far.play(() => (_req, res) => void held.push(res));
    const leaver = begin(here, IMAGES, jsonPayload({ ...SMALL, model: 'flux-dev' }), CLIENT_KEY);
    await until(() => held.length === 1, 'the upstream to be asked');
    const closed = new Promise((resolve) => held[0]?.once('close', resolve));
    leaver.leave();
    await closed;
    here.far.play(painter);
  });

  it('their errors are told when they are harmless', async () => {
    expect(await problem('BUSY', { model: 'flux-dev' })).toMatchObject({
      status: 400,
      message: 'No cats today.',
    });
    expect((await problem('PATH', { model: 'flux-dev' })).text).not.toContain('/srv');
  });
});
