import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findEspeak } from '../../models/espeak-voices.ts';
import { writeToneRecogniser, writeToneVoice } from '../../models/onnx/testing/tone-folders.ts';
import { WORKER_EXIT } from './protocol.ts';
import type { ForkedWorker } from './testing/forked-worker.ts';
import { SPEECH, startToneWorkers, type ToneWorkers } from './testing/tone-workers.ts';

const childrenOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);

let tones: ToneWorkers;
beforeAll(async () => {
  tones = await startToneWorkers();
}, 30_000);
afterAll(() => tones.stop());

describe('an invalid model', () => {
  test.each([
    [
      'a missing part',
      (folder: string) => {
        writeFileSync(join(folder, 'voices.bin'), 'x');
        rmSync(join(folder, 'tokens.txt'));
      },
      'tokens.txt is missing',
    ],
    ['an empty file', (folder: string) => truncateSync(join(folder, 'tokens.txt')), 'tokens.txt is empty'],
    [
      'a truncated model',
      (folder: string) => truncateSync(join(folder, 'model.onnx'), 60_000),
      'not a whole ONNX file',
    ],
    ['a recogniser', (folder: string) => void writeToneRecogniser(folder), 'not a voice'],
  ])('%s: reports the reason and ends', async (name, damage, reason) => {
    const folder = writeToneVoice(join(tones.home, name.replaceAll(' ', '-')));
    damage(folder);
    const worker = await tones.fork(folder, 'speech', tones.home);
    await expect(worker.ready).rejects.toThrow(reason);
    expect((await worker.exited).code).toBe(WORKER_EXIT.failed);
  });

  test('a model that only appears valid ends only its own process', async () => {
    const folder = writeToneVoice(join(tones.home, 'looks-whole'));
    writeFileSync(join(folder, 'tokens.txt'), 'nonsense without numbers\n');
    const worker = await tones.fork(folder, 'speech', tones.home);
    await expect(worker.ready).rejects.toThrow();
    expect((await worker.exited).code).not.toBe(0);
    expect(await tones.voice.health()).toMatchObject({ status: 'ok' });
  });
});

describe('espeak-ng', () => {
  let program: string | null = null;
  let espeak: ForkedWorker | null = null;
  beforeAll(async () => {
    program = await findEspeak();
    if (program === null) return;
    espeak = await tones.fork(program, 'espeak', tones.home);
    await espeak.ready;
  });
  const MISSING = 'espeak-ng is not installed';

  test('speaks, faster when requested', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const lengths: number[] = [];
    for (const speed of [1, 2]) {
      const answer = await espeak.post(SPEECH, { input: 'Hello world, this is a test. It speaks.', speed });
      const sound = Buffer.from(await answer.arrayBuffer());
      expect([answer.status, sound.toString('latin1', 0, 4), sound.readUInt32LE(24)]).toEqual([
        200,
        'RIFF',
        22_050,
      ]);
      lengths.push(sound.length);
    }
    expect(lengths[0]).toBeGreaterThan(22_050 * 2);
    expect(lengths[1]).toBeLessThan((lengths[0] as number) * 0.8);
  });

  test('a text is never an argument', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const answer = await espeak.post(SPEECH, { input: '--voices -w /tmp/x', voice: 'de' });
    expect(Buffer.from(await answer.arrayBuffer()).length).toBeGreaterThan(10_000);
  });

  test('refuses an unknown voice with the available ones', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const answer = await espeak.post(SPEECH, { input: 'hello', voice: 'xx; rm -rf' });
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('available: af, am')]);
  });

  test('a disconnect ends the process', async ({ skip }) => {
    if (espeak === null) return skip(MISSING);
    const leaving = new AbortController();
    const input = 'A long story about nothing at all. '.repeat(1_800);
    const answer = await espeak.post(SPEECH, { input }, { signal: leaving.signal });
    await (answer.body as ReadableStream<Uint8Array>).getReader().read();
    leaving.abort();
    await vi.waitFor(() => expect(childrenOf(espeak?.child.pid ?? 0)).toEqual([]), 2_000);
  });

  test('an invalid program is reported', async () => {
    const worker = await tones.fork('/nowhere/espeak-ng', 'espeak', tones.home);
    await expect(worker.ready).rejects.toThrow('espeak-ng does not run');
  });
});
