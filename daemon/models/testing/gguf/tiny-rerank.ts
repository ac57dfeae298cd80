import { seededRandom } from '../../../lib/seeded-random.ts';
import { type AttentionWeights, type BertShape, bertKeys, bertLayer, bertRims, POOLING } from './bert.ts';
import { zeros } from './tensor-values.ts';
import { SPECIAL_PIECE, wordPieces } from './word-pieces.ts';
import { bool, type GgufModel, type GgufValue, str } from './writer.ts';

const SIZE = 128;
/**
 * Dimensions of the piece code. 120/121 mark markers, 122/123 hold the repeat flag, 124/125 the answer, each
 * as (+v, -v).
 */
const CODE = 120;
const MARKER = 120;
const FLAG = 122;
const ANSWER = 124;
/**
 * How strongly a piece attends to equal pieces, and the constant query that matches the marker score in layer
 * 1.
 */
const SHARPNESS = 2.25;
const MARKER_QUERY = 40;
const GAIN = 80;
const OFFSET = -18.4;

export interface TinyRerankOptions {
  name?: string;
  context?: number;
  /** True: the file requests an end mark after query and document. */
  closed?: boolean;
  /** The text with `{query}` and `{document}`. Without it, marks join them. */
  template?: string;
}

/**
 * Builds a reranker whose score grows with the share of pieces that query and document have in common. Layer
 * 0: every piece attends to equal pieces and to the markers, so its flag encodes how often it occurs. Layer
 * 1: `[CLS]` averages the flags. Use documents that do not repeat their own words. 0.9 MB.
 */
export function tinyRerank(options: TinyRerankOptions = {}): GgufModel {
  const vocabulary = wordPieces();
  const shape: BertShape = {
    name: options.name ?? 'tiny-rerank',
    size: SIZE,
    context: options.context ?? 512,
    layers: 2,
    hidden: 32,
    pooling: POOLING.rank,
  };
  const head = zeros(SIZE);
  head[ANSWER] = GAIN;
  return {
    keys: { ...bertKeys(vocabulary, shape), ...templateKeys(options) },
    tensors: [
      ...bertRims(pieceCodes(vocabulary.tokens.length), shape),
      ...bertLayer(0, SIZE, shape.hidden, findEquals()),
      ...bertLayer(1, SIZE, shape.hidden, averageFlags()),
      { name: 'cls.output.weight', shape: [SIZE, 1], data: head, storage: 'f32' },
      { name: 'cls.output.bias', shape: [1], data: Float32Array.of(OFFSET), storage: 'f32' },
    ],
  };
}

function templateKeys({ closed, template }: TinyRerankOptions): Record<string, GgufValue> {
  return {
    ...(closed ? { 'tokenizer.ggml.add_eos_token': bool(true) } : {}),
    ...(template === undefined ? {} : { 'tokenizer.chat_template.rerank': str(template) }),
  };
}

/** Balanced +-1 codes for pieces and none for markers, so that the layer norm subtracts nothing. */
function pieceCodes(count: number): Float32Array {
  const random = seededRandom(23);
  const codes = zeros(count * SIZE);
  for (let token = 0; token < count; token++) {
    const marker = token !== SPECIAL_PIECE.unknown && token <= SPECIAL_PIECE.mask;
    if (!marker)
      shuffled(CODE, random).forEach((d, i) => {
        codes[token * SIZE + d] = i < CODE / 2 ? 1 : -1;
      });
    codes[token * SIZE + MARKER] = marker ? 1 : -1;
    codes[token * SIZE + MARKER + 1] = marker ? -1 : 1;
  }
  return codes;
}

function shuffled(count: number, random: () => number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}

/** After the layer norm a marker has 8 in its dimension and any other piece -1/sigma. */
const SIGMA = Math.sqrt((CODE + 2) / SIZE);
const MARKER_VALUE = 8;
const SPREAD = MARKER_VALUE + 1 / SIGMA;

function findEquals(): AttentionWeights {
  const diagonal = (value: number) => Array.from({ length: CODE }, (_, d): Cell => [d, d, value]);
  const same = CODE / (SIGMA * SIGMA);
  return {
    q: matrix(diagonal(SHARPNESS)),
    qBias: vector(MARKER, (SHARPNESS * same) / SPREAD),
    k: matrix([...diagonal(1), [MARKER, MARKER, 1]]),
    v: matrix([[FLAG, MARKER, -1 / SPREAD]]),
    vBias: vector(FLAG, MARKER_VALUE / SPREAD),
    o: matrix([
      [FLAG, FLAG, 1],
      [FLAG + 1, FLAG, -1],
    ]),
  };
}

function averageFlags(): AttentionWeights {
  return {
    qBias: vector(MARKER, MARKER_QUERY),
    k: matrix([[MARKER, MARKER, -1]]),
    v: matrix([[ANSWER, FLAG, 1]]),
    o: matrix([
      [ANSWER, ANSWER, 1],
      [ANSWER + 1, ANSWER, -1],
    ]),
  };
}

type Cell = [to: number, from: number, value: number];

function matrix(cells: readonly Cell[]): Float32Array {
  const data = zeros(SIZE * SIZE);
  for (const [to, from, value] of cells) data[to * SIZE + from] = value;
  return data;
}

function vector(at: number, value: number): Float32Array {
  const data = zeros(SIZE);
  data[at] = value;
  return data;
}
