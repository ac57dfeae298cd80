/**
 * Clients that disconnect while an image is drawn or queued: their jobs are cancelled, other jobs continue.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the images they draw are real PNGs.
 */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { IMAGES, ImageGateway, SMALL } from './harness/image-gateway.ts';

const gateway = new ImageGateway();
const { post, draw, drawError } = gateway;

describe('client disconnect', () => {
  /** Sends a request and disconnects when `when` is true. Returns the milliseconds until `then` is true. */
  async function disconnectWhen(body: object, when: () => boolean, then: () => boolean): Promise<number> {
    const payload = JSON.stringify({ ...SMALL, ...body });
    const req = request(`${gateway.url}${IMAGES}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' },
    });
    req.on('error', () => {});
    req.end(payload);
    await until(when, 'the engine to have the job');
    const disconnectedAt = performance.now();
    req.destroy();
    await until(then, 'the engine to be notified');
    return performance.now() - disconnectedAt;
  }

  it('a disconnect interrupts the running job of this client only', async () => {
    const before = gateway.comfy.interrupted.length;
    const elapsedMs = await disconnectWhen(
      { prompt: 'HANG' },
      () => gateway.comfy.queued().length === 1,
      () => gateway.comfy.interrupted.length > before,
    );
    // The bound is 250 ms; the rest is for a loaded machine.
    expect(elapsedMs).toBeLessThan(2_000);
    await until(() => gateway.comfy.queued().length === 0, 'the engine to be free');
    expect((await draw({})).data).toHaveLength(1);
  });

  it('a job queued behind a foreign one is removed from the queue, and the foreign one continues', async () => {
    const foreignJob = await startForeignJob();
    const before = gateway.comfy.interrupted.length;
    await disconnectWhen(
      { prompt: 'SLOW' },
      () => gateway.comfy.queued().length === 2,
      () => gateway.comfy.queued().length === 1,
    );
    expect(gateway.comfy.queued()).toEqual([foreignJob]);
    expect(gateway.comfy.interrupted).toHaveLength(before);
    await fetch(`${gateway.comfy.url}/interrupt`, {
      method: 'POST',
      body: JSON.stringify({ prompt_id: foreignJob }),
    });
    await until(() => gateway.comfy.queued().length === 0, 'the engine to be free');
  });

  /** Starts a job that the gateway does not know, as a user does in ComfyUI's own UI. */
  async function startForeignJob(): Promise<string> {
    const [prompt] = [...gateway.comfy.accepted.values()];
    const text = JSON.stringify(prompt).replace('a cat', 'HANG');
    const body = JSON.stringify({ prompt: JSON.parse(text), prompt_id: 'theirs', client_id: 'theirs' });
    await fetch(`${gateway.comfy.url}/prompt`, { method: 'POST', body });
    return 'theirs';
  }

  it('a cancel by an admin ends it with an error response', async () => {
    const drawing = drawError('HANG');
    await until(() => gateway.comfy.queued().length === 1, 'the job');
    const { running } = (await send(gateway, 'GET', '/api/requests', { key: ADMIN_KEY })).json<{
      running: { id: string; model: string; slot: string }[];
    }>();
    expect(running).toMatchObject([{ model: 'sdxl', slot: 'img' }]);
    await send(gateway, 'POST', `/api/requests/${running[0]?.id}/cancel`, { key: ADMIN_KEY });
    expect(await drawing).toMatchObject({ code: 'request.cancelled' });
    await until(() => gateway.comfy.queued().length === 0, 'the engine to be free');
  });

  it('a full queue of the slot is 429', async () => {
    const many = Array.from({ length: 3 }, () => post({ ...SMALL, prompt: 'SLOW', steps: 3 }));
    const responses = await Promise.all(many);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    expect(responses.find(({ status }) => status === 429)?.code).toBe('slot.queue_full');
  });
});

it('an unload makes the engine free the device', async () => {
  await draw({});
  await send(gateway, 'POST', '/api/slots/img/unload', { key: ADMIN_KEY });
  expect(gateway.comfy.requests.at(-1)).toBe('POST /free {"unload_models":true,"free_memory":true}');
});
