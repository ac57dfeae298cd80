import type { LlamaModel, Token } from 'node-llama-cpp';
import type { LoadWatch } from '../lifecycle.ts';
import type { WorkerConfig, WorkerFacts } from '../protocol.ts';
import { Refusal } from '../refusal.ts';
import type { ChatRequest } from './chat-request.ts';
import { type ChatTemplate, chatTemplate } from './chat-template.ts';
import { detokenizer } from './detokenizer.ts';
import { type GenerationEvent, generate } from './generate.ts';
import { LlamaSequence } from './llama-sequence.ts';
import { type LoadedModel, loadModel, ownTemplate } from './load.ts';
import { type PrefillPace, prefillPace } from './prefill-pace.ts';
import type { Generation } from './request.ts';
import { SequencePool } from './sequence-pool.ts';

/** `started` comes once a sequence is held; from then on only a broken engine can fail the answer. */
export type EngineEvent = { type: 'started' } | GenerationEvent;

/** A loaded chat model that answers several requests at once. */
export class ChatEngine {
  readonly facts: WorkerFacts;
  readonly #loaded: LoadedModel;
  readonly #pool: SequencePool<LlamaSequence>;
  readonly #template: ChatTemplate;
  readonly #pace: PrefillPace;
  readonly #onBroken: (error: unknown) => void;
  #generated = 0;

  private constructor(loaded: LoadedModel, config: WorkerConfig, onBroken: (error: unknown) => void) {
    const { model, context } = loaded;
    const sequences = Array.from(
      { length: context.totalSequences },
      () => new LlamaSequence(context.getSequence()),
    );
    this.#loaded = loaded;
    this.facts = loaded.facts;
    this.#pool = new SequencePool(sequences, config.queueLimit, (sequence, tokens) =>
      sequence.shared(tokens),
    );
    this.#template = chatTemplate(ownTemplate(model), {
      bos: model.tokens.bosString ?? '',
      eos: model.tokens.eosString ?? '',
    });
    this.#pace = prefillPace(context.batchSize);
    this.#onBroken = onBroken;
  }

  /** Loads the model; see {@link loadModel}. */
  static async load(config: WorkerConfig, watch: LoadWatch): Promise<ChatEngine> {
    return new ChatEngine(await loadModel(config, watch), config, watch.onBroken);
  }

  /** The prompt of a chat in tokens. Throws a 400 when the template refuses. */
  chatTokens(request: ChatRequest): number[] {
    return this.textTokens(this.#template.render(request));
  }

  /** Text in tokens, special tokens recognised, with the token that every text of this model begins with. */
  textTokens(text: string): number[] {
    const { model } = this.#loaded;
    const tokens: number[] = model.tokenize(text, true);
    const { bos } = model.tokens;
    if (bos !== null && model.tokens.shouldPrependBosToken && tokens[0] !== bos) tokens.unshift(bos);
    return tokens;
  }

  /**
   * Waits for a sequence and generates one answer. Throws 400 when the prompt does not fit the window, 429 when the queue is
   * full, and the signal's reason when the caller leaves the queue. After a later abort it ends without `done`.
   */
  async *answer(
    tokens: readonly number[],
    generation: Generation,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent> {
    refuseOverflow(tokens.length, this.facts.context);
    const sequence = await this.#pool.acquire(tokens, signal);
    try {
      yield { type: 'started' };
      yield* generate(sequence, this.#job(tokens, generation), signal);
    } catch (error) {
      await sequence.reset().catch(this.#onBroken);
      throw error;
    } finally {
      this.#pool.release(sequence);
    }
  }

  stats(): { active: number; queued: number; tokens_generated: number } {
    return { active: this.#pool.active, queued: this.#pool.queued, tokens_generated: this.#generated };
  }

  /** Frees the native memory; no request may run any more. */
  async dispose(): Promise<void> {
    await this.#loaded.llama.dispose();
  }

  #job(tokens: readonly number[], generation: Generation) {
    const { model } = this.#loaded;
    return {
      tokens,
      generation,
      detokenizer: detokenizer((part, before) => read(model, part, before)),
      isEnd: (token: number) => model.isEogToken(token as Token),
      pace: this.#pace,
      onToken: () => {
        this.#generated++;
      },
    };
  }
}

function read(model: LlamaModel, tokens: readonly number[], before: readonly number[]): string {
  return model.detokenize(tokens as Token[], false, before as Token[]);
}

/** Refuses a prompt that leaves no room for an answer, in llama-server's words: clients recognise them and shorten. */
export function refuseOverflow(tokens: number, context: number): void {
  if (tokens === 0) throw new Refusal('request.invalid', 'The prompt is empty.', { param: 'prompt' });
  if (tokens < context) return;
  throw new Refusal(
    'context_length_exceeded',
    `request (${tokens} tokens) exceeds the available context size (${context} tokens), try increasing it`,
    { param: 'messages', extra: { n_prompt_tokens: tokens, n_ctx: context } },
  );
}
