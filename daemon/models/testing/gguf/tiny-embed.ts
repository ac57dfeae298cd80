import { seededRandom } from '../../../lib/seeded-random.ts';
import { type BertShape, bertKeys, bertLayer, bertRims, POOLING } from './bert.ts';
import { wordPieces } from './word-pieces.ts';
import type { GgufModel } from './writer.ts';

/**
 * Builds an embedding model whose vector is the mean of +-1 piece codes: texts that share words are close.
 * 0.3 MB.
 */
export function tinyEmbed(options: { name?: string; size?: number; context?: number } = {}): GgufModel {
  const vocabulary = wordPieces();
  const random = seededRandom(11);
  const shape: BertShape = {
    name: options.name ?? 'tiny-embed',
    size: options.size ?? 64,
    context: options.context ?? 512,
    layers: 1,
    hidden: 32,
    pooling: POOLING.mean,
  };
  const codes = Float32Array.from({ length: vocabulary.tokens.length * shape.size }, () =>
    random() < 0.5 ? -1 : 1,
  );
  return {
    keys: bertKeys(vocabulary, shape),
    tensors: [...bertRims(codes, shape), ...bertLayer(0, shape.size, shape.hidden)],
  };
}
