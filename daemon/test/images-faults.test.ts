/**
 * Case I04 over a real port: engines that fail, hang, lose jobs or return garbage, and the resulting errors.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the images they draw are real PNGs.
 */
import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { ImageGateway } from './harness/image-gateway.ts';

const gateway = new ImageGateway();
const { draw, drawError, storedCount } = gateway;

describe('I04 failures of ComfyUI', () => {
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
    const before = storedCount();
    const error = await drawError(prompt);
    expect(error).toMatchObject({ status, code, details: { reason } });
    expect(error.text).not.toMatch(/\/home|secret|safetensors|torch|Traceback/);
    expect(storedCount()).toBe(before);
  });

  it('a curated model whose files are not installed is 404', async () => {
    const { installed } = gateway.comfy;
    gateway.comfy.installed = { ...installed, checkpoints: ['/home/owner/private.safetensors'] };
    const error = await drawError('a cat', { model: 'sdxl' });
    gateway.comfy.installed = installed;
    expect(error).toMatchObject({
      status: 404,
      code: 'model.not_found',
      details: { reason: 'not_installed' },
    });
    expect(error.text).not.toContain('private');
  });

  it('without WebSockets, or after the socket closes, the history is polled', async () => {
    gateway.comfy.hasSockets = false;
    await draw({});
    gateway.comfy.hasSockets = true;
    const drawing = draw({ prompt: 'SLOW', steps: 3 });
    await until(
      () => gateway.comfy.requests.at(-1)?.startsWith('GET /queue') ?? false,
      'the job to be polled',
    );
    gateway.comfy.closeSockets();
    expect((await drawing).data).toHaveLength(1);
  });

  it('progress is emitted as events, to clients too', async () => {
    const events = await fetch(`${gateway.url}/api/events`, {
      headers: { authorization: `Bearer ${CLIENT_KEY}` },
    });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    const image = await draw({ prompt: 'SLOW', steps: 5 });
    const received: GatewayEvents['image'][] = [];
    for (let text = ''; received.at(-1)?.state !== 'done'; ) {
      text += (await reader?.read())?.value ?? '';
      received.splice(0, received.length, ...imageEvents(text));
    }
    await reader?.cancel();
    const expected = { id: image._svc.prompt_id, model: 'sdxl', slot: 'img' };
    expect(received[0]).toMatchObject({ ...expected, state: 'drawing' });
    expect(received.some(({ progress }) => progress !== null && progress > 0 && progress < 1)).toBe(true);
    expect(JSON.stringify(received)).not.toContain('SLOW');
  });
});

const imageEvents = (text: string) =>
  [...text.matchAll(/event: image\ndata: (.*)\n\n/g)].map(
    ([, data]) => JSON.parse(data as string) as GatewayEvents['image'],
  );
