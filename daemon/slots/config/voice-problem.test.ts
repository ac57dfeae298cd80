import { expect, test } from 'vitest';
import type { SlotModel } from '../engines/engine.ts';
import type { SlotConfig } from './slot-config.ts';
import { readSlotFile } from './slot-file.ts';
import { voiceProblem } from './voice-problem.ts';

const tts = (text: string): SlotConfig => {
  const { config } = readSlotFile('tts.toml', text);
  if (config === null) throw new Error('the text gives no slot');
  return config;
};
const speaking = (voices?: string[]): SlotModel => ({
  id: 'piper',
  path: '/m/piper',
  type: 'tts',
  demo: false,
  sizeBytes: 1,
  contextTrain: null,
  ...(voices && { voices }),
});

test('an unknown voice is a problem of the file that lists the known ones', () => {
  expect(voiceProblem(tts('[voice]\nvoice = "nosuch"'), () => speaking(['anna', 'ben']))).toEqual({
    file: 'tts.toml',
    line: null,
    message: 'voice.voice: there is no voice "nosuch"; available: anna, ben',
  });
});

test.each(['anna', 'ANNA', 'alloy', ''])('"%s" is not a problem', (voice) => {
  expect(voiceProblem(tts(`[voice]\nvoice = "${voice}"`), () => speaking(['anna']))).toBeNull();
});

test('any voice is accepted where the voices are unknown', () => {
  const config = tts('[voice]\nvoice = "nosuch"');
  for (const model of [null, speaking(), speaking([])]) expect(voiceProblem(config, () => model)).toBeNull();
  const foreign = tts('engine = "kokoro"\nurl = "http://127.0.0.1:8880"\n[voice]\nvoice = "nosuch"');
  expect(voiceProblem(foreign, () => speaking(['anna']))).toBeNull();
});

test('no model is looked up for a file without a voice', () => {
  const unexpectedLookup = () => {
    throw new Error('looked up');
  };
  expect(voiceProblem(tts('[voice]\nspeed = 2.0'), unexpectedLookup)).toBeNull();
});
