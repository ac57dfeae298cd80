import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toneStt, toneSttTokens } from './tone-stt.ts';
import { toneTts, toneTtsTokens } from './tone-tts.ts';
import { encodeOnnx, type OnnxModel } from './writer.ts';

function writeFolder(folder: string, model: OnnxModel, tokens: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.onnx'), encodeOnnx(model));
  writeFileSync(join(folder, 'tokens.txt'), tokens);
  return folder;
}

/** Writes the tone voice as a model folder and returns its path. */
export const writeToneVoice = (folder: string, options: { speakers?: number } = {}): string =>
  writeFolder(folder, toneTts(options), toneTtsTokens());

/** Writes the tone recogniser as a model folder and returns its path. */
export const writeToneRecogniser = (folder: string): string =>
  writeFolder(folder, toneStt(), toneSttTokens());
