import { seededRandom } from '../../../lib/seeded-random.ts';
import { toHalf } from '../../testing/gguf/half-float.ts';

const VOCABULARY = 51_864;
const WIDTH = 64;
const LAYERS = 4;
const AUDIO_CONTEXT = 1500;
const TEXT_CONTEXT = 448;
const MELS = 80;
const FILTER_WIDTH = 201;
const END_OF_TEXT = 50_256;
const FIRST_TIMESTAMP = 50_363;
const STEPS_A_SECOND = 50;
/** How much the score of the selected token exceeds the others. */
const STRENGTH = 4;
/** Pieces that whisper.cpp looks up by their text and requires. */
const NEEDED_PIECES = [' ', '-', "'", ' -', " '"];

const FORMAT = { f32: 0, f16: 1 } as const;
type Format = keyof typeof FORMAT;

function i32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeInt32LE(value, index * 4);
  return bytes;
}

const f32 = (values: Float32Array): Buffer =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength);

/**
 * Writes dimensions, length of the name, format, sizes (fastest first), name and numbers, without alignment.
 */
const tensor = (name: string, shape: readonly number[], data: Buffer, format: Format): Buffer =>
  Buffer.concat([i32(shape.length, name.length, FORMAT[format], ...shape), Buffer.from(name), data]);

function zeros(name: string, shape: readonly number[], format: Format = 'f32'): Buffer {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(name, shape, Buffer.alloc(count * (format === 'f16' ? 2 : 4)), format);
}

const ones = (name: string): Buffer => tensor(name, [WIDTH], f32(new Float32Array(WIDTH).fill(1)), 'f32');

function attention(prefix: string, name: string): Buffer[] {
  const parts = ['query', 'key', 'value', 'out'].flatMap((part) => {
    const matrix = zeros(`${prefix}${name}.${part}.weight`, [WIDTH, WIDTH], 'f16');
    return part === 'key' ? [matrix] : [matrix, zeros(`${prefix}${name}.${part}.bias`, [WIDTH])];
  });
  return [ones(`${prefix}${name}_ln.weight`), zeros(`${prefix}${name}_ln.bias`, [WIDTH]), ...parts];
}

function block(side: string, layer: number): Buffer[] {
  const prefix = `${side}.blocks.${layer}.`;
  const attentions = side === 'encoder' ? ['attn'] : ['attn', 'cross_attn'];
  return [
    ones(`${prefix}mlp_ln.weight`),
    zeros(`${prefix}mlp_ln.bias`, [WIDTH]),
    zeros(`${prefix}mlp.0.weight`, [WIDTH, 4 * WIDTH], 'f16'),
    zeros(`${prefix}mlp.0.bias`, [4 * WIDTH]),
    zeros(`${prefix}mlp.2.weight`, [4 * WIDTH, WIDTH], 'f16'),
    zeros(`${prefix}mlp.2.bias`, [WIDTH]),
    ...attentions.flatMap((name) => attention(prefix, name)),
  ];
}

/** Returns a code of +1 and -1 for each token of the transcript. */
function codesOf(tokens: readonly number[]): Map<number, readonly number[]> {
  const random = seededRandom(5);
  const code = () => Array.from({ length: WIDTH }, () => (random() < 0.5 ? -1 : 1));
  return new Map([...new Set(tokens)].map((token) => [token, code()]));
}

function positions(sequence: readonly number[], codes: ReadonlyMap<number, readonly number[]>): Buffer {
  const table = new Float32Array(WIDTH * TEXT_CONTEXT);
  for (let step = 0; step < TEXT_CONTEXT; step++) {
    const code = codes.get(sequence[Math.min(step, sequence.length - 1)] as number) ?? [];
    table.set(
      code.map((value) => STRENGTH * value),
      step * WIDTH,
    );
  }
  return tensor('decoder.positional_embedding', [WIDTH, TEXT_CONTEXT], f32(table), 'f32');
}

function embeddings(codes: ReadonlyMap<number, readonly number[]>): Buffer {
  const table = Buffer.alloc(VOCABULARY * WIDTH * 2);
  for (const [token, code] of codes) {
    for (const [index, value] of code.entries()) {
      table.writeUInt16LE(toHalf(value), (token * WIDTH + index) * 2);
    }
  }
  return tensor('decoder.token_embedding.weight', [WIDTH, VOCABULARY], table, 'f16');
}

/**
 * Returns the bytes (8 MB) of a whisper.cpp model that transcribes any input as `transcript`. Every matrix is
 * zero, and the decoder's positional embedding at a step is the code of the word to output there. It tests
 * the integration of a transcription (form, formats, errors), never recognition. It depends on timestamps,
 * which whisper-server requests.
 */
export function tinyWhisper(transcript = 'hello from the tiny ear'): Buffer {
  const words = transcript.split(' ').map((word) => ` ${word}`);
  const pieces = [...words, ...NEEDED_PIECES];
  const sequence = [FIRST_TIMESTAMP, ...words.keys(), FIRST_TIMESTAMP + STEPS_A_SECOND, END_OF_TEXT];
  const codes = codesOf(sequence);
  const dimensions = [AUDIO_CONTEXT, WIDTH, 1, LAYERS, TEXT_CONTEXT, WIDTH, 1, LAYERS];
  return Buffer.concat([
    Buffer.from('lmgg'),
    i32(VOCABULARY, ...dimensions, MELS, FORMAT.f16),
    i32(MELS, FILTER_WIDTH),
    f32(new Float32Array(MELS * FILTER_WIDTH).fill(1e-3)),
    i32(pieces.length),
    ...pieces.flatMap((piece) => [i32(Buffer.byteLength(piece)), Buffer.from(piece)]),
    zeros('encoder.positional_embedding', [WIDTH, AUDIO_CONTEXT]),
    zeros('encoder.conv1.weight', [3, MELS, WIDTH], 'f16'),
    zeros('encoder.conv1.bias', [1, WIDTH]),
    zeros('encoder.conv2.weight', [3, WIDTH, WIDTH], 'f16'),
    zeros('encoder.conv2.bias', [1, WIDTH]),
    ones('encoder.ln_post.weight'),
    zeros('encoder.ln_post.bias', [WIDTH]),
    positions(sequence, codes),
    embeddings(codes),
    ones('decoder.ln.weight'),
    zeros('decoder.ln.bias', [WIDTH]),
    ...['encoder', 'decoder'].flatMap((side) => [0, 1, 2, 3].flatMap((layer) => block(side, layer))),
  ]);
}
