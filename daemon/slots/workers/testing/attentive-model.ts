import { seededRandom } from '../../../lib/seeded-random.ts';
import { CHATML } from '../../../models/testing/gguf/chat-templates.ts';
import { noise } from '../../../models/testing/gguf/tensor-values.ts';
import { tinyChat } from '../../../models/testing/gguf/tiny-chat.ts';
import type { GgufModel } from '../../../models/testing/gguf/writer.ts';

export interface AttentiveModelOptions {
  /** Other seeds give other weights in a file of the same size. */
  readonly seed?: number;
  /** Chat template. */
  readonly template?: string;
}

/**
 * Builds a chat model with random weights. Unlike the other tiny models, each token depends on all tokens before it, so
 * that a wrong attention state changes the answer.
 */
export function attentiveModel({ seed = 1, template = CHATML }: AttentiveModelOptions = {}): GgufModel {
  const model = tinyChat({ template, context: 4096, layers: 2, width: 320 });
  const random = seededRandom(seed);
  const replaced = /attn_output|ffn_down|^output\.weight/;
  return {
    ...model,
    tensors: model.tensors.map((tensor) =>
      replaced.test(tensor.name) ? { ...tensor, data: noise(random, tensor.data.length, 0.5) } : tensor,
    ),
  };
}
