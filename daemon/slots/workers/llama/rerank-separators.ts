import type { LlamaModel } from 'node-llama-cpp';
import type { PairMarks } from './rerank-pair.ts';

/** Pre-tokenizers whose models need a separator although their files do not say so, as in llama.cpp. */
const SEPARATING: ReadonlySet<unknown> = new Set(['jina-v1-en', 'jina-v2-code', 'roberta-bpe']);

/** Returns the marks of a model, with llama.cpp's defaults where the file says nothing. */
export function pairMarks({ tokens, fileInfo }: Pick<LlamaModel, 'tokens' | 'fileInfo'>): PairMarks {
  const { ggml, 'chat_template.rerank': template } = fileInfo.metadata.tokenizer ?? {};
  const addSep: unknown = (ggml as { add_sep_token?: unknown } | undefined)?.add_sep_token;
  return {
    bos: tokens.bos,
    eos: tokens.eos,
    sep: tokens.sep,
    add: {
      bos: tokens.shouldPrependBosToken,
      eos: tokens.shouldAppendEosToken,
      sep: typeof addSep === 'boolean' ? addSep : ggml?.model === 'bert' || SEPARATING.has(ggml?.pre),
    },
    template: typeof template === 'string' && template !== '' ? template : null,
  };
}
