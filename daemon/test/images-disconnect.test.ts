/**
 * Who leaves while a picture is drawn, and who waits for one: jobs are called off, those of others go on.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the pictures they draw are real PNGs.
 */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { IMAGES, ImageGateway, SMALL } from './harness/image-gateway.ts';

const here = new ImageGateway();
const { post, draw, problem } = here;

describe('leaving', () => {
  /** Asks, and leaves when `when` holds; answers the milliseconds until `then` holds. */
  async function leave(body: object, when: () => boolean, then: () => boolean): Promise<number> {
    const payload = JSON.stringify({ ...SMALL, ...body });
    const req = request(`${here.url}${IMAGES}`, {
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
    const before = here.comfy.interrupted.length;
    const took = await leave(
      { prompt: 'HANG' },
      () => here.comfy.queued().length === 1,
      () => here.comfy.interrupted.length > before,
    );
    // The bound is 250 ms; the rest is for a loaded machine.
    expect(took).toBeLessThan(2_000);
    await until(() => here.comfy.queued().length === 0, 'the engine to be free');
    expect((await draw({})).data).toHaveLength(1);
  });

  it('a job that waits behind somebody else’s is taken out of the queue, and theirs goes on', async () => {
    const theirs = await startForeignJob();
    const before = here.comfy.interrupted.length;
    await leave(
      { prompt: 'SLOW' },
      () => here.comfy.queued().length === 2,
      () => here.comfy.queued().length === 1,
    );
    expect(here.comfy.queued()).toEqual([theirs]);
    expect(here.comfy.interrupted).toHaveLength(before);
    await fetch(`${here.comfy.url}/interrupt`, {
      method: 'POST',
      body: JSON.stringify({ prompt_id: theirs }),
    });
    await until(() => here.comfy.queued().length === 0, 'the engine to be free');
  });

  /** A job that the gateway knows nothing of, as an owner starts it in ComfyUI's own window. */
  async function startForeignJob(): Promise<string> {
    const [prompt] = [...here.comfy.taken.values()];
    const text = JSON.stringify(prompt).replace('a cat', 'HANG');
    const body = JSON.stringify({ prompt: JSON.parse(text), prompt_id: 'theirs', client_id: 'theirs' });
    await fetch(`${here.comfy.url}/prompt`, { method: 'POST', body });
    return 'theirs';
  }

  it('an admin who cancels ends it with an answer', async () => {
    const drawing = problem('HANG');
    await until(() => here.comfy.queued().length === 1, 'the job');
    const { running } = (await ask(here, 'GET', '/api/requests', { key: ADMIN_KEY })).json<{
      running: { id: string; model: string; slot: string }[];
    }>();
    expect(running).toMatchObject([{ model: 'sdxl', slot: 'img' }]);
    await ask(here, 'POST', `/api/requests/${running[0]?.id}/cancel`, { key: ADMIN_KEY });
    expect(await drawing).toMatchObject({ code: 'request.cancelled' });
    await until(() => here.comfy.queued().length === 0, 'the engine to be free');
  });

  it('a full queue of the slot is 429', async () => {
    const many = Array.from({ length: 3 }, () => post({ ...SMALL, prompt: 'SLOW', steps: 3 }));
    const answers = await Promise.all(many);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    expect(answers.find(({ status }) => status === 429)?.code).toBe('slot.queue_full');
  });
});

it('a slot that lets go of its engine has it free the device', async () => {
  await draw({});
  await ask(here, 'POST', '/api/slots/img/unload', { key: ADMIN_KEY });
  expect(here.comfy.heard.at(-1)).toBe('POST /free {"unload_models":true,"free_memory":true}');
});
