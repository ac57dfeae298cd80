import { expect, it } from 'vitest';
import { imageFormat } from '../../lib/media/image-format.ts';
import { findProgram } from '../../lib/process/find-program.ts';
import { drawnPng } from '../../test/harness/drawn-png.ts';
import { convertArgs, convertPng } from './convert.ts';

const PNG = drawnPng({ width: 64, height: 64, seed: 1 });
const signal = new AbortController().signal;
const hasProgram = findProgram('ffmpeg', process.env.PATH ?? '') !== null;
if (!hasProgram) process.stderr.write('skipped: conversion of images needs ffmpeg\n');

it.skipIf(!hasProgram).each(['jpeg', 'webp'] as const)('%s: a lower quality is smaller', async (format) => {
  const best = await convertPng(PNG, { format, quality: null, signal });
  const low = await convertPng(PNG, { format, quality: 10, signal });
  expect([best, low].map((image) => image && imageFormat(image))).toEqual([format, format]);
  expect(low?.length).toBeLessThan(best?.length ?? 0);
});

it('without the program, and for a file that is no image, there is none', async () => {
  expect(
    await convertPng(PNG, { format: 'jpeg', quality: null, signal, program: '/no/such/program' }),
  ).toBeNull();
  expect(await convertPng(Buffer.from('x'), { format: 'webp', quality: null, signal })).toBeNull();
});

it('an aborted conversion rejects', async () => {
  const aborted = AbortSignal.abort(new Error('left'));
  await expect(convertPng(PNG, { format: 'jpeg', quality: null, signal: aborted })).rejects.toThrow('left');
});

it('maps the quality to the scales of the encoders', () => {
  const at = (format: 'jpeg' | 'webp', quality: number, name: string) => {
    const args = convertArgs({ format, quality });
    return args[args.indexOf(name) + 1];
  };
  expect([at('jpeg', 100, '-q:v'), at('jpeg', 0, '-q:v'), at('webp', 42, '-quality')]).toEqual([
    '2',
    '31',
    '42',
  ]);
});
