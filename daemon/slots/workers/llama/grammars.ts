import { LRUCache } from 'lru-cache';
import { type Llama, type LlamaGrammar, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import { invalidField } from '../refusal.ts';
import type { Generation } from './request.ts';

/** Compiled grammars in the cache. Callers tend to repeat the same grammar. */
const MAX_CACHED = 32;

/** Compiles grammars and creates their states. */
export class Grammars {
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #cache = new LRUCache<string, LlamaGrammar>({ max: MAX_CACHED });

  constructor(llama: Llama, model: LlamaModel) {
    this.#llama = llama;
    this.#model = model;
  }

  /**
   * Returns a function that creates a new grammar state for each choice, or null without a grammar. Throws a
   * 400 for an invalid grammar.
   */
  async begin(grammar: Generation['grammar']): Promise<(() => LlamaGrammarEvaluationState) | null> {
    if (grammar === null) return null;
    const compiled = await this.#compiled(grammar.text, grammar.param);
    return () => new LlamaGrammarEvaluationState({ model: this.#model, grammar: compiled });
  }

  async #compiled(text: string, param: string): Promise<LlamaGrammar> {
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const grammar = await this.#compile(text, param);
    this.#cache.set(text, grammar);
    return grammar;
  }

  async #compile(text: string, param: string): Promise<LlamaGrammar> {
    try {
      return await this.#llama.createGrammar({ grammar: text });
    } catch {
      throw invalidField(param, `${param}: llama.cpp can't read the grammar`);
    }
  }
}
