/**
 * `svcctl image` against a real port.
 * ComfyUI and stable-diffusion.cpp are STAND-INS (they need a GPU and gigabytes of weights); the pictures they draw are real PNGs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPng } from '../lib/media/png.ts';
import { ImageGateway } from './harness/image-gateway.ts';
import { svcctl, svcctlEnv } from './harness/svcctl.ts';

const here = new ImageGateway();

describe('svcctl image', () => {
  const run = (args: string[]) => svcctl(['image', ...args], { env: svcctlEnv(here) });

  it('writes the picture into a file, never over one that is there', async () => {
    const file = join(here.home, 'cat.png');
    const first = await run(['--model', 'sdxl', '--size', '64x128', '-o', file, 'a', 'cat']);
    expect(first).toMatchObject({ code: 0, out: `${file}\n`, err: '' });
    expect(readPng(readFileSync(file), 4096)).toMatchObject({ width: 64, height: 128 });
    expect(await run(['-o', file, 'a cat'])).toMatchObject({ code: 5 });
    expect((await run(['-o', file, '--force', 'a cat'])).code).toBe(0);
    expect(readPng(readFileSync(file), 4096).width).toBe(512);
  });

  it('leaves no empty file behind when nothing was drawn', async () => {
    const file = join(here.home, 'none.png');
    const failed = await run(['--model', 'sdxl', '-o', file, 'FAIL']);
    expect(failed).toMatchObject({ code: 1, out: '' });
    expect(failed.err).toContain('(upstream.error)');
    expect(existsSync(file)).toBe(false);
  });
});
