import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, shortHash } from './cache.ts';
import { wheelEntryName } from './wheel-files.ts';
import { type WhisperWeights, writeWhisperSource } from './whisper-weights.ts';

/** Part of the cache name. Change it together with the conversion. */
const CONVERSION = '1';
const MELS = 80;
const AUDIO_CONTEXT = 1500;
const RATE = 16_000;
const FFT_SIZE = 400;
const BINS = FFT_SIZE / 2 + 1;
/** The numbers of data types in a CTranslate2 file (half precision) and in a ggml file. */
const CT2_HALF = 4;
const GGML = { f32: 0, f16: 1 } as const;
const MAGIC = 'lmgg';

/** A tensor of half precision. */
interface Tensor {
  readonly shape: readonly number[];
  readonly data: Buffer;
}

/** Reads the tensors of a CTranslate2 file of half precision, and its scalars. */
export function readCtranslate2(file: Buffer): {
  tensors: Map<string, Tensor>;
  scalars: Map<string, number>;
} {
  let at = 0;
  const bytes = (length: number) => {
    at += length;
    return file.subarray(at - length, at);
  };
  const u8 = () => bytes(1).readUInt8();
  const u16 = () => bytes(2).readUInt16LE();
  const u32 = () => bytes(4).readUInt32LE();
  const text = () => bytes(u16()).toString('utf8').replace(/\0+$/, '');
  u32();
  const kind = text();
  if (kind !== 'WhisperSpec') throw new Error(`the file contains a ${kind}, not a WhisperSpec`);
  u32();
  const tensors = new Map<string, Tensor>();
  const scalars = new Map<string, number>();
  for (let left = u32(); left > 0; left -= 1) {
    const name = text();
    const shape = Array.from({ length: u8() }, u32);
    const type = u8();
    const data = bytes(u32());
    if (shape.length === 0) scalars.set(name, data.readIntLE(0, Math.min(data.length, 6)));
    else if (type === CT2_HALF) tensors.set(name, { shape, data });
    else throw new Error(`${name} has the type ${type}, not half precision`);
  }
  return { tensors, scalars };
}

/** Returns the value of half-precision bits. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

function toSingle(half: Buffer): Buffer {
  const single = Buffer.alloc(half.length * 2);
  for (let at = 0; at < half.length; at += 2) single.writeFloatLE(fromHalf(half.readUInt16LE(at)), at * 2);
  return single;
}

/** Slaney's scale of pitch: linear below 1 kHz, logarithmic above. */
const LINEAR_HZ = 200 / 3;
const LOG_START = 1000 / LINEAR_HZ;
const LOG_STEP = Math.log(6.4) / 27;
const toMel = (hertz: number): number =>
  hertz < 1000 ? hertz / LINEAR_HZ : LOG_START + Math.log(hertz / 1000) / LOG_STEP;
const toHertz = (mel: number): number =>
  mel < LOG_START ? mel * LINEAR_HZ : 1000 * Math.exp(LOG_STEP * (mel - LOG_START));

/**
 * Returns the filters that Whisper applies to a spectrum, one row of bins for each band
 * (https://librosa.org/doc/latest/generated/librosa.filters.mel.html).
 */
export function melFilters(): Float32Array {
  const top = toMel(RATE / 2);
  const edges = Array.from({ length: MELS + 2 }, (_, at) => toHertz((top * at) / (MELS + 1)));
  const filters = new Float32Array(MELS * BINS);
  for (let band = 0; band < MELS; band += 1) {
    const [low = 0, centre = 0, high = 0] = edges.slice(band, band + 3);
    for (let bin = 0; bin < BINS; bin += 1) {
      const hertz = (bin * RATE) / FFT_SIZE;
      const weight = Math.min((hertz - low) / (centre - low), (high - hertz) / (high - centre));
      filters[band * BINS + bin] = (Math.max(0, weight) * 2) / (high - low);
    }
  }
  return filters;
}

/** Returns the byte of each letter of a byte-level vocabulary. */
function byteOfLetter(): Map<string, number> {
  const isPlain = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(isPlain(byte) ? byte : next++), byte]),
  );
}

/** Returns the pieces of the vocabulary in their order, without special tokens: whisper.cpp adds them. */
function vocabularyOf(tokenizer: Tokenizer): Buffer[] {
  const bytes = byteOfLetter();
  const special = new Set(tokenizer.added_tokens.map(({ content }) => content));
  return Object.entries(tokenizer.model.vocab)
    .filter(([piece]) => !special.has(piece))
    .sort(([, a], [, b]) => a - b)
    .map(([piece]) => Buffer.from([...piece].map((letter) => bytes.get(letter) ?? 0)));
}

interface Tokenizer {
  readonly added_tokens: readonly { readonly content: string }[];
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

/** A tensor under its name in a ggml file. `rows` selects a part of a matrix that CTranslate2 joins. */
interface Entry {
  readonly name: string;
  readonly from: string;
  readonly part?: readonly [index: number, of: number];
}

const normEntries = (name: string, from: string): Entry[] => [
  { name: `${name}.weight`, from: `${from}/gamma` },
  { name: `${name}.bias`, from: `${from}/beta` },
];
const linearEntries = (name: string, from: string, part?: Entry['part']): Entry[] => [
  { name: `${name}.weight`, from: `${from}/weight`, ...(part && { part }) },
  { name: `${name}.bias`, from: `${from}/bias`, ...(part && { part }) },
];

function attentionEntries(name: string, from: string, isCross: boolean): Entry[] {
  const [query, key, value, out] = isCross
    ? (['linear_0', 'linear_1', 'linear_1', 'linear_2'] as const)
    : (['linear_0', 'linear_0', 'linear_0', 'linear_1'] as const);
  const [first, second, third] = isCross
    ? ([undefined, [0, 2], [1, 2]] as const)
    : ([
        [0, 3],
        [1, 3],
        [2, 3],
      ] as const);
  return [
    ...normEntries(`${name}_ln`, `${from}/layer_norm`),
    ...linearEntries(`${name}.query`, `${from}/${query}`, first),
    // Whisper has no bias of keys.
    ...linearEntries(`${name}.key`, `${from}/${key}`, second).slice(0, 1),
    ...linearEntries(`${name}.value`, `${from}/${value}`, third),
    ...linearEntries(`${name}.out`, `${from}/${out}`),
  ];
}

function blockEntries(side: 'encoder' | 'decoder', layer: number): Entry[] {
  const name = `${side}.blocks.${layer}`;
  const from = `${side}/layer_${layer}`;
  return [
    ...attentionEntries(`${name}.attn`, `${from}/self_attention`, false),
    ...(side === 'decoder' ? attentionEntries(`${name}.cross_attn`, `${from}/attention`, true) : []),
    ...normEntries(`${name}.mlp_ln`, `${from}/ffn/layer_norm`),
    ...linearEntries(`${name}.mlp.0`, `${from}/ffn/linear_0`),
    ...linearEntries(`${name}.mlp.2`, `${from}/ffn/linear_1`),
  ];
}

const OUTER: readonly Entry[] = [
  { name: 'encoder.positional_embedding', from: 'encoder/position_encodings/encodings' },
  ...linearEntries('encoder.conv1', 'encoder/conv1'),
  ...linearEntries('encoder.conv2', 'encoder/conv2'),
  ...normEntries('encoder.ln_post', 'encoder/layer_norm'),
  { name: 'decoder.positional_embedding', from: 'decoder/position_encodings/encodings' },
  { name: 'decoder.token_embedding.weight', from: 'decoder/embeddings/weight' },
  ...normEntries('decoder.ln', 'decoder/layer_norm'),
];

function i32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeInt32LE(value, index * 4);
  return bytes;
}

/** Returns a tensor as whisper.cpp reads it: sizes fastest first; vectors and positions in single precision. */
function tensorBytes({ name, from, part }: Entry, tensors: ReadonlyMap<string, Tensor>): Buffer {
  const found = tensors.get(from);
  if (found === undefined) throw new Error(`the file has no ${from}`);
  const [index, of] = part ?? [0, 1];
  const length = found.data.length / of;
  const data = found.data.subarray(index * length, (index + 1) * length);
  const [first = 0, ...rest] = found.shape;
  const shape = [first / of, ...rest];
  const isColumn = /conv\d\.bias$/.test(name);
  const isSingle = shape.length === 1 || name.endsWith('positional_embedding');
  const sizes = isColumn ? [1, ...shape] : shape.toReversed();
  return Buffer.concat([
    i32(sizes.length, name.length, isSingle ? GGML.f32 : GGML.f16, ...sizes),
    Buffer.from(name),
    isSingle ? toSingle(data) : data,
  ]);
}

/** Writes a model of CTranslate2 in half precision, in the folder `source`, as whisper.cpp reads it. */
function writeGgml(source: string, path: string): void {
  const { tensors, scalars } = readCtranslate2(readFileSync(join(source, 'model.bin')));
  const tokenizer = JSON.parse(readFileSync(join(source, 'tokenizer.json'), 'utf8')) as Tokenizer;
  const pieces = vocabularyOf(tokenizer);
  const [total = 0, size = 0] = tensors.get('decoder/embeddings/weight')?.shape ?? [];
  const textContext = tensors.get('decoder/position_encodings/encodings')?.shape[0] ?? 0;
  const heads = scalars.get('encoder/num_heads') ?? 0;
  const layersOf = (side: string) =>
    new Set([...tensors.keys()].map((name) => new RegExp(`^${side}/layer_(\\d+)/`).exec(name)?.[1])).size - 1;
  const [encoderLayers, decoderLayers] = [layersOf('encoder'), layersOf('decoder')];
  const filters = melFilters();
  const entries = [
    ...OUTER,
    ...Array.from({ length: encoderLayers }, (_, layer) => blockEntries('encoder', layer)).flat(),
    ...Array.from({ length: decoderLayers }, (_, layer) => blockEntries('decoder', layer)).flat(),
  ];
  const file = openSync(path, 'wx');
  try {
    const dimensions = [AUDIO_CONTEXT, size, heads, encoderLayers, textContext, size, heads, decoderLayers];
    writeSync(file, Buffer.concat([Buffer.from(MAGIC), i32(total, ...dimensions, MELS, GGML.f16)]));
    writeSync(file, Buffer.concat([i32(MELS, BINS), Buffer.from(filters.buffer)]));
    writeSync(
      file,
      Buffer.concat([i32(pieces.length), ...pieces.flatMap((piece) => [i32(piece.length), piece])]),
    );
    for (const entry of entries) writeSync(file, tensorBytes(entry, tensors));
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the path of a Whisper model as whisper.cpp reads it. It is converted once and then found in the cache. Throws
 * `Unavailable` when Python or the registry is absent.
 */
export async function whisperGgml(weights: WhisperWeights): Promise<string> {
  const { name, wheels } = weights;
  const file = `ggml-${name.replace('whisper-', '')}.bin`;
  const entry = `ggml-${name}-${shortHash(CONVERSION, ...wheels.map(wheelEntryName))}`;
  const folder = await cachedFolder(entry, async (scratch) => {
    await writeWhisperSource(weights, join(scratch, 'source'));
    writeGgml(join(scratch, 'source'), join(scratch, file));
  });
  return join(folder, file);
}
