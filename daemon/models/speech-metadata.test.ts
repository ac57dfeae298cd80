import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { onnxMetadata } from './onnx/metadata.ts';
import { writeToneRecogniser, writeToneVoice } from './onnx/testing/tone-folders.ts';
import { toneStt } from './onnx/testing/tone-stt.ts';
import { toneTts } from './onnx/testing/tone-tts.ts';
import { encodeOnnx } from './onnx/testing/writer.ts';
import { readSpeechMetadata } from './speech-metadata.ts';

let folder: string;
beforeEach(() => {
  folder = scratch();
});

test('the generators are deterministic and the files small', () => {
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  for (const make of [toneTts, toneStt]) {
    const bytes = encodeOnnx(make());
    expect(digest(encodeOnnx(make()))).toBe(digest(bytes));
    expect(bytes.length).toBeLessThan(1_300_000);
  }
});

describe('onnxMetadata', () => {
  test("reads the writer's output", async () => {
    const path = join(writeToneVoice(folder, { speakers: 3 }), 'model.onnx');
    expect(await onnxMetadata(path)).toMatchObject({
      model_type: 'vits',
      n_speakers: '3',
      sample_rate: '16000',
    });
  });

  test('refuses a truncated file or returns fewer entries', async () => {
    const path = join(writeToneRecogniser(folder), 'model.onnx');
    const whole = await onnxMetadata(path);
    const bytes = encodeOnnx(toneStt());
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 1 }), async (length) => {
        writeFileSync(path, bytes.subarray(0, length));
        const facts = await onnxMetadata(path).catch(() => ({}));
        expect(Object.keys(facts).length).toBeLessThan(Object.keys(whole).length);
      }),
      { numRuns: 40 },
    );
  });

  test('no bytes crash it', async () => {
    const path = join(folder, 'noise.onnx');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        writeFileSync(path, bytes);
        await onnxMetadata(path).catch((error: Error) => expect(error.message).toContain('ONNX'));
      }),
    );
  });
});

describe('readSpeechFacts', () => {
  test('a voice', async () => {
    writeToneVoice(folder, { speakers: 2 });
    expect(await readSpeechMetadata(folder)).toMatchObject({
      type: 'tts',
      family: 'vits',
      voices: ['0', '1'],
      sampleRate: 16_000,
      language: 'English',
      files: { model: join(folder, 'model.onnx'), tokens: join(folder, 'tokens.txt') },
      sizeBytes: expect.any(Number),
    });
  });

  test('finds the names of its speakers in the same folder', async () => {
    writeToneVoice(folder, { speakers: 2 });
    writeFileSync(join(folder, 'model.onnx.json'), '{"speaker_id_map":{"anna":0,"ben":1}}');
    expect((await readSpeechMetadata(folder)).voices).toEqual(['anna', 'ben']);
  });

  test('a recogniser', async () => {
    writeToneRecogniser(folder);
    expect(await readSpeechMetadata(folder)).toMatchObject({
      type: 'stt',
      family: 'omnilingual',
      voices: [],
    });
  });

  test.each([
    ['no speech model', () => rmSync(join(folder, 'model.onnx')), 'the folder contains no speech model'],
    ['an empty token file', () => truncateSync(join(folder, 'tokens.txt')), 'tokens.txt is empty'],
    [
      'a truncated model',
      () => truncateSync(join(folder, 'model.onnx'), 5_000),
      'model.onnx: it is not a whole ONNX file',
    ],
    ['a missing part', () => writeFileSync(join(folder, 'voices.bin'), 'x'), 'espeak-ng-data is missing'],
  ])('%s has a reason that names the file', async (_, damage, reason) => {
    writeToneVoice(folder);
    damage();
    await expect(readSpeechMetadata(folder)).rejects.toThrow(reason);
  });

  test('a folder instead of a file is not a model', async () => {
    mkdirSync(join(folder, 'model.onnx'));
    writeFileSync(join(folder, 'tokens.txt'), 'a 0\n');
    await expect(readSpeechMetadata(folder)).rejects.toThrow();
  });
});
