import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { encodeMetadata, onnxMetadata } from './onnx/metadata.ts';
import { writeToneRecogniser, writeToneVoice } from './onnx/testing/tone-folders.ts';
import { piperSettings, writeEspeakData, writeTonePiper } from './onnx/testing/tone-piper.ts';
import { toneStt } from './onnx/testing/tone-stt.ts';
import { toneTts, toneTtsTokens } from './onnx/testing/tone-tts.ts';
import { encodeOnnx } from './onnx/testing/writer.ts';
import { MissingPart } from './read-error.ts';
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

test('metadata that is appended to an ONNX file is read back', async () => {
  const path = join(folder, 'model.onnx');
  const entries = { comment: 'piper', long: 'x'.repeat(20_000), empty: '', text: 'häß' };
  writeFileSync(
    path,
    Buffer.concat([encodeOnnx({ ...toneTts(), metadata: { first: '1' } }), encodeMetadata(entries)]),
  );
  expect(await onnxMetadata(path)).toEqual({ first: '1', ...entries });
});

describe('a voice as Piper publishes it', () => {
  const system = () => ({ systemFolders: [join(folder, 'system')] });
  const read = (path: string) => readSpeechMetadata(path, system());

  test('has all facts in its settings', async () => {
    writeEspeakData(join(folder, 'system'));
    const path = writeTonePiper(folder);
    expect(await read(path)).toMatchObject({
      type: 'tts',
      family: 'vits',
      isPiper: true,
      files: { model: path, dataDir: join(folder, 'system', 'espeak-ng-data') },
      voices: ['default'],
      sampleRate: 16_000,
    });
  });

  test.each(['as published', 'with tokens and metadata'])('states how it speaks, %s', async (form) => {
    writeEspeakData(folder);
    const inference = { noise_scale: 0.5, length_scale: 1.25, noise_w: 0.7 };
    const path = writeTonePiper(join(folder, 'joe'), 'joe', piperSettings({ inference }));
    if (form !== 'as published') {
      writeFileSync(path, encodeOnnx(toneTts()));
      writeFileSync(join(folder, 'joe', 'tokens.txt'), toneTtsTokens());
    }
    const found = await read(form === 'as published' ? path : join(folder, 'joe'));
    expect(found.inference).toEqual({ noiseScale: 0.5, lengthScale: 1.25, noiseScaleW: 0.7 });
    expect(found.isPiper).toBe(form === 'as published' ? true : undefined);
  });

  test('lists its speakers by name', async () => {
    writeEspeakData(folder);
    const settings = piperSettings({ num_speakers: 2, speaker_id_map: { anna: 0, ben: 1 } });
    expect((await read(writeTonePiper(folder, 'de_DE-two-low', settings))).voices).toEqual(['anna', 'ben']);
  });

  test('without rules of pronunciation it names what to install', async () => {
    const path = writeTonePiper(folder);
    await expect(read(path)).rejects.toThrow(
      /^espeak-ng-data is missing: install the package espeak-ng-data/,
    );
    await expect(read(path)).rejects.toThrow(MissingPart);
  });

  test.each([
    [
      'settings that are no JSON',
      (path: string) => writeFileSync(`${path}.json`, '{'),
      /onnx\.json: no phoneme_id_map/,
    ],
    [
      'settings of something else',
      (path: string) => writeFileSync(`${path}.json`, '{"a":1}'),
      /not a Piper voice/,
    ],
    [
      'a cut file',
      (path: string) => truncateSync(path, 5_000),
      /tone-medium\.onnx: it is not a whole ONNX file/,
    ],
    ['a web page', (path: string) => writeFileSync(path, '<!doctype html>'), /it is not a whole ONNX file/],
  ])('%s is refused with the file', async (_, damage, reason) => {
    writeEspeakData(folder);
    const path = writeTonePiper(folder);
    damage(path);
    await expect(read(path)).rejects.toThrow(reason);
  });

  test('in a folder to which only the tokens were added it is served like the file', async () => {
    writeEspeakData(folder);
    const path = writeTonePiper(join(folder, 'joe'));
    writeFileSync(join(folder, 'joe', 'tokens.txt'), '_ 0\n');
    expect(await read(join(folder, 'joe'))).toMatchObject({ isPiper: true, files: { model: path } });
  });
});

describe('a voice of sherpa-onnx that needs rules of pronunciation', () => {
  const read = () => readSpeechMetadata(folder, { systemFolders: [join(folder, 'system')] });
  const write = (metadata: Record<string, string>) => {
    const model = toneTts();
    writeToneVoice(folder);
    writeFileSync(
      join(folder, 'model.onnx'),
      encodeOnnx({ ...model, metadata: { ...model.metadata, ...metadata } }),
    );
  };

  test.each([
    ['has_espeak', '1'],
    ['comment', 'piper'],
  ])('%s=%s: finds or misses them', async (key, value) => {
    write({ [key]: value });
    await expect(read()).rejects.toThrow('espeak-ng-data is missing');
    writeEspeakData(join(folder, 'system'));
    expect((await read()).files.dataDir).toBe(join(folder, 'system', 'espeak-ng-data'));
    const own = writeEspeakData(folder);
    expect((await read()).files.dataDir).toBe(own);
    rmSync(join(own, 'phontab'));
    await expect(read()).rejects.toThrow('espeak-ng-data is not complete: phontab is missing');
  });

  test('Kokoro finds or misses them, whatever its file says', async () => {
    write({ model_type: 'kokoro', has_espeak: '0' });
    writeFileSync(join(folder, 'voices.bin'), 'x');
    await expect(read()).rejects.toThrow('espeak-ng-data is missing');
    writeEspeakData(join(folder, 'system'));
    expect((await read()).files.dataDir).toBe(join(folder, 'system', 'espeak-ng-data'));
  });

  test('one without espeak-ng needs none', async () => {
    write({ has_espeak: '0' });
    expect((await read()).files).not.toHaveProperty('dataDir');
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
    [
      'a missing part',
      () => {
        writeFileSync(join(folder, 'voices.bin'), 'x');
        rmSync(join(folder, 'tokens.txt'));
      },
      'tokens.txt is missing',
    ],
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
