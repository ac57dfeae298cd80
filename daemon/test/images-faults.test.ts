/**
 * Case I04 over a real port: engines that fail, hang, lose jobs or answer nonsense, and who learns of it.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the pictures they draw are real PNGs.
 */
import { describe, expect, it } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import { CLIENT_KEY, until } from './harness/gateway.ts';
import { ImageGateway } from './harness/image-gateway.ts';

const here = new ImageGateway();
const { draw, drawError, storedCount } = here;

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
    const before = storedCount();
    const told = await drawError(prompt);
    expect(told).toMatchObject({ status, code, details: { reason } });
    expect(told.text).not.toMatch(/\/home|secret|safetensors|torch|Traceback/);
    expect(storedCount()).toBe(before);
  });

  it('a curated model whose files are not installed is 404 by its name', async () => {
    const { installed } = here.comfy;
    here.comfy.installed = { ...installed, checkpoints: ['/home/owner/private.safetensors'] };
    const told = await drawError('a cat', { model: 'sdxl' });
    here.comfy.installed = installed;
    expect(told).toMatchObject({
      status: 404,
      code: 'model.not_found',
      details: { reason: 'not_installed' },
    });
    expect(told.text).not.toContain('private');
  });

  it('an engine without WebSockets, or whose socket is cut, is asked for its history', async () => {
    here.comfy.hasSockets = false;
    await draw({});
    here.comfy.hasSockets = true;
    const drawing = draw({ prompt: 'SLOW', steps: 3 });
    await until(
      () => here.comfy.requests.at(-1)?.startsWith('GET /queue') ?? false,
      'the job to be looked at',
    );
    here.comfy.closeSockets();
    expect((await drawing).data).toHaveLength(1);
  });

  it('progress is told as events, to clients too', async () => {
    const events = await fetch(`${here.url}/api/events`, {
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
