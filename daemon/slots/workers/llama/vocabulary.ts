import { type LlamaModel, type Token, TokenBias } from 'node-llama-cpp';
import { invalidField } from '../refusal.ts';
import type { TokenBias as RequestedBias } from './sampling.ts';
import { tokenBytes } from './token-bytes.ts';

/** Converts between the model's tokens and the terms of requests. */
export class Vocabulary {
  readonly #model: LlamaModel;
  readonly #size: number;
  readonly #marks = new Map<string, number | null>();

  constructor(model: LlamaModel) {
    this.#model = model;
    const { tokens } = model.fileInfo.metadata.tokenizer?.ggml ?? {};
    this.#size = Array.isArray(tokens) ? tokens.length : 0;
  }

  /** Tokenizes text including special tokens and the model's start token. */
  tokens(text: string): number[] {
    const tokens: number[] = this.#model.tokenize(text, true);
    return this.#withBeginning(tokens);
  }

  /**
   * Returns the tokens around a gap as the model was trained to fill it. Null when it was not trained for
   * that.
   */
  infill(prefix: readonly number[], suffix: string): number[] | null {
    const { prefix: before, suffix: after, middle } = this.#model.tokens.infill;
    if (before === null || after === null || middle === null) return null;
    return this.#withBeginning([before, ...prefix, after, ...this.#model.tokenize(suffix, false), middle]);
  }

  /** Throws for ids outside the vocabulary, which would crash the engine. */
  checkIds(tokens: readonly number[], param: string): void {
    const unknown = tokens.find((token) => token >= this.#size);
    if (unknown !== undefined)
      throw invalidField(param, `${param}: the model has ${this.#size} tokens; ${unknown} is none of them`);
  }

  /** Decodes `tokens` as a continuation of `before`. Control tokens have no text. */
  text(tokens: readonly number[], before: readonly number[] = []): string {
    return this.#model.detokenize(tokens as Token[], false, before as Token[]);
  }

  /** Returns one token on its own; control tokens by name. */
  spell(token: number): string {
    return this.#model.detokenize([token as Token], true);
  }

  /** Returns the bytes of one token; null when the vocabulary does not tell them. */
  bytes(token: number): number[] | null {
    const { tokens, model } = this.#model.fileInfo.metadata.tokenizer?.ggml ?? {};
    const entry: unknown = Array.isArray(tokens) ? tokens[token] : undefined;
    return typeof entry === 'string' ? tokenBytes(entry, model) : null;
  }

  isEnd(token: number): boolean {
    return this.#model.isEogToken(token as Token);
  }

  /** Returns the tokens that represent one of `texts` each, with that text. */
  marks(texts: readonly string[]): Map<number, string> {
    const found = new Map<number, string>();
    for (const text of texts) {
      const token = this.#mark(text);
      if (token !== null) found.set(token, text);
    }
    return found;
  }

  /** Converts the biases of a request for the engine. Null when there are none. */
  bias(biases: readonly RequestedBias[]): TokenBias | null {
    if (biases.length === 0) return null;
    const bias = TokenBias.for(this.#model);
    for (const { token, logit } of biases) {
      const ids = typeof token === 'number' ? [token] : this.#model.tokenize(token, false);
      this.checkIds(ids, 'logit_bias');
      if (ids.some((id) => this.isEnd(id)))
        throw invalidField('logit_bias', 'logit_bias: the token that ends an answer can have no bias');
      bias.set(ids as Token[], { logit });
    }
    return bias;
  }

  #mark(text: string): number | null {
    const known = this.#marks.get(text);
    if (known !== undefined) return known;
    const tokens = this.#model.tokenize(text, true);
    const token = tokens.length === 1 ? (tokens[0] ?? null) : null;
    this.#marks.set(text, token);
    return token;
  }

  #withBeginning(tokens: number[]): number[] {
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    if (bos === null || !shouldPrependBosToken || tokens[0] === bos) return tokens;
    return [bos, ...tokens];
  }
}
