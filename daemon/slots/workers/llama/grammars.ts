import { type Llama, type LlamaGrammar, LlamaGrammarEvaluationState, type LlamaModel } from 'node-llama-cpp';
import { Refusal } from '../refusal.ts';
import type { Generation } from './request.ts';

/** Compiled grammars that are kept: callers ask for the same one again and again. */
const KEPT = 32;

/** Compiles grammars and begins their states. */
export class Grammars {
  readonly #llama: Llama;
  readonly #model: LlamaModel;
  readonly #kept = new Map<string, LlamaGrammar>();

  constructor(llama: Llama, model: LlamaModel) {
    this.#llama = llama;
    this.#model = model;
  }

  /** A function that begins the grammar anew for each choice; null without one. Throws a 400 for what is no grammar. */
  async begin(asked: Generation['grammar']): Promise<(() => LlamaGrammarEvaluationState) | null> {
    if (asked === null) return null;
    const grammar = await this.#compiled(asked.text, asked.param);
    return () => new LlamaGrammarEvaluationState({ model: this.#model, grammar });
  }

  async #compiled(text: string, param: string): Promise<LlamaGrammar> {
    const known = this.#kept.get(text);
    if (known !== undefined) {
      this.#kept.delete(text);
      this.#kept.set(text, known);
      return known;
    }
    const grammar = await this.#compile(text, param);
    this.#kept.set(text, grammar);
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return grammar;
  }

  async #compile(text: string, param: string): Promise<LlamaGrammar> {
    try {
      return await this.#llama.createGrammar({ grammar: text });
    } catch {
      throw new Refusal('request.invalid', `${param}: llama.cpp can't read the grammar`, { param });
    }
  }
}
