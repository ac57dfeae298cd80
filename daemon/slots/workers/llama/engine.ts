import { basename } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type ConversationState, withoutState } from '../../../contract/conversation-state.ts';
import type { SamplingDefaults } from '../../../models/sampling-defaults.ts';
import { CHECKPOINT_LIMITS } from '../checkpoint-limits.ts';
import type { LoadWatch } from '../lifecycle.ts';
import { NGRAM_TOKENS, type WorkerConfig, type WorkerHealth, type WorkerInfo } from '../protocol.ts';
import { invalidField } from '../refusal.ts';
import { type ChatTemplate, chatTemplates, type TemplateFiles } from './chat-template.ts';
import { DecodeBarrier } from './decode-barrier.ts';
import { detokenizer } from './detokenizer.ts';
import { type GenerationEvent, generate, type Job } from './generate.ts';
import { Grammars } from './grammars.ts';
import { LlamaSequence } from './llama-sequence.ts';
import { formatOf, type LoadedModel, loadModel, modelSampling, ownTemplate, toolTemplate } from './load.ts';
import { canRollBack } from './ngram-predictor.ts';
import { grammarRefusal, patchSamplerErrors } from './patch-sampler-errors.ts';
import { type PrefillPace, prefillPace } from './prefill-chunks.ts';
import { PromptRenderer } from './prompt-renderer.ts';
import type { Generation } from './request.ts';
import { toSeed } from './sampling.ts';
import { SequencePool } from './sequence-pool.ts';
import { openStateStore } from './state-fingerprint.ts';
import { StateStore } from './state-store.ts';
import { textGate } from './text-gate.ts';
import { Vocabulary } from './vocabulary.ts';

/** Requests that a client sends together reach the engine within this time in ms. */
const GATHER_MS = 3;

/** `started` is emitted once a sequence is acquired. After that, only a broken engine can fail the answer. */
export type EngineEvent = { type: 'started' } | ({ choice: number } & GenerationEvent);

/** What to generate from one prompt. */
export interface PromptJob {
  tokens: readonly number[];
  generation: Generation;
  /** Number of choices, generated one after another. */
  n: number;
  /** The grammar applies after this text. Null: from the beginning. */
  gate: string | null;
  /** Control tokens that are decoded as text. */
  marks: readonly string[];
  /** Called before the prompt is read. */
  onConversation?(state: ConversationState): void;
  /** Checked after each text: true when the reader of this choice needs no more. */
  isComplete(): boolean;
}

/** A loaded chat model that serves several requests at once. */
export class ChatEngine {
  readonly info: WorkerInfo;
  readonly template: ChatTemplate;
  readonly prompts: PromptRenderer;
  readonly vocabulary: Vocabulary;
  /** Defaults of requests, from the model file. */
  readonly sampling: SamplingDefaults;
  readonly #loaded: LoadedModel;
  readonly #grammars: Grammars;
  readonly #pool: SequencePool<LlamaSequence>;
  readonly #sequences: readonly LlamaSequence[];
  readonly #pace: PrefillPace;
  readonly #config: WorkerConfig;
  readonly #watch: LoadWatch;
  #states: StateStore | 'not_configured' | 'unavailable' = 'not_configured';
  #generated = 0;

  private constructor(loaded: LoadedModel, config: WorkerConfig, watch: LoadWatch) {
    const { llama, model, context } = loaded;
    patchSamplerErrors(context);
    const several = context.totalSequences > 1;
    const barrier = new DecodeBarrier(nextTurn, several ? () => pause(GATHER_MS) : null);
    this.#loaded = loaded;
    this.#config = config;
    const ngramTokens = this.#ngramTokens(config.ngramTokens > 0 ? 'ngram' : 'off');
    this.#sequences = Array.from(
      { length: context.totalSequences },
      (_, number) =>
        new LlamaSequence(context.getSequence({ checkpoints: CHECKPOINT_LIMITS }), {
          number,
          barrier,
          ngramTokens,
        }),
    );
    this.info = loaded.info;
    this.vocabulary = new Vocabulary(model);
    this.sampling = modelSampling(model);
    this.#grammars = new Grammars(llama, model);
    this.#pool = new SequencePool(this.#sequences, config.queueLimit, (sequence, tokens) => ({
      shared: sequence.shared(tokens),
      held: sequence.position,
    }));
    const files: TemplateFiles = {
      own: ownTemplate(model),
      tools: toolTemplate(model),
      special: { bos: model.tokens.bosString ?? '', eos: model.tokens.eosString ?? '' },
      format: formatOf(model),
    };
    this.template = chatTemplates(files);
    this.prompts = new PromptRenderer(this.template, files);
    this.#pace = prefillPace(context.batchSize);
    this.#watch = watch;
  }

  /** Loads the model, see {@link loadModel}. Throws when the chat template refuses even the simplest chat. */
  static async load(config: WorkerConfig, watch: LoadWatch): Promise<ChatEngine> {
    const engine = new ChatEngine(await loadModel(config, watch), config, watch);
    try {
      engine.template.render({
        messages: [{ role: 'user', content: 'Hi' }],
        tools: null,
        templateArguments: {},
      });
    } catch (error) {
      await engine.dispose();
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${basename(config.modelPath)}: ${reason.replaceAll(/\s+/g, ' ')}`);
    }
    engine.#states = await openStateStore(config, engine.#loaded);
    return engine;
  }

  /**
   * Waits for a sequence and generates the choices of one prompt on it. Throws 400 when the prompt exceeds
   * the window or the job is invalid, 429 when the queue is full, and the signal's reason when the caller
   * disconnects while queued. After a later abort it ends without `done`.
   */
  async *answer(order: PromptJob, signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const { tokens, generation, n } = order;
    if (generation.grammar !== null && generation.sampling.typicalP < 1) {
      throw invalidField(
        'typical_p',
        'typical_p: cannot be combined with a grammar, a schema or a forced call',
      );
    }
    const begin = await this.#grammars.begin(generation.grammar);
    const bias = this.vocabulary.bias(generation.sampling.bias);
    const marks = this.vocabulary.marks(order.marks);
    const seed = generation.sampling.seed ?? Math.floor(Math.random() * 2 ** 32);
    const sequence = await this.#pool.acquire(tokens, signal);
    sequence.enter();
    try {
      await sequence.predict(this.#ngramTokens(generation.speculation));
      order.onConversation?.(await this.#restore(sequence, tokens));
      yield { type: 'started' };
      for (let choice = 0; choice < n && !signal.aborted; choice++) {
        const gate = textGate(order.gate);
        const state = begin?.() ?? null;
        const job = this.#job(order, marks, gate.push, {
          sampling: generation.sampling,
          seed: toSeed(seed + choice),
          bias,
          grammar: state === null ? null : { state, gate },
          probabilities: generation.logprobs !== null,
        });
        for await (const event of generate(sequence, job, signal)) yield { ...event, choice };
      }
    } catch (error) {
      await sequence.reset().catch(this.#watch.onBroken);
      throw grammarRefusal(error, generation.grammar);
    } finally {
      sequence.leave();
      this.#pool.release(sequence);
    }
  }

  stats(): Required<Omit<WorkerHealth, 'status'>> {
    return {
      active: this.#pool.active,
      queued: this.#pool.queued,
      tokens_generated: this.#generated,
      batches: this.#loaded.batches.batches,
    };
  }

  /** Saves the conversations that the sequences hold. `isOrphaned`: the gateway is gone. Never rejects. */
  async save(isOrphaned: boolean): Promise<void> {
    if (!(this.#states instanceof StateStore)) return;
    if (isOrphaned && this.#config.kvCache?.survivesRestart !== true) return;
    await this.#states.save(this.#sequences, this.#loaded.context.stateSize);
  }

  /** Frees the native memory. No request may be running. */
  async dispose(): Promise<void> {
    await this.#loaded.llama.dispose();
  }

  /** Returns the number of tokens that a request predicts at once. */
  #ngramTokens(speculation: Generation['speculation']): number {
    const { ngramTokens } = this.#config;
    const isOn = speculation === null ? ngramTokens > 0 : speculation === 'ngram';
    return isOn && canRollBack(this.#loaded.model) ? ngramTokens || NGRAM_TOKENS : 0;
  }

  /** Restores the beginning of a prompt from a saved state, if there is one that helps. */
  async #restore(sequence: LlamaSequence, tokens: readonly number[]): Promise<ConversationState> {
    const states = this.#states;
    const result = states instanceof StateStore ? await states.restore(sequence, tokens) : states;
    const held = Math.min(sequence.shared(tokens), tokens.length - 1);
    if (typeof result === 'string') return withoutState(held, tokens.length, result);
    this.#watch.onRestored(result);
    return { outcome: 'restored', tokens: held, from: result.from, reason: null };
  }

  #job(
    { tokens, generation, isComplete }: PromptJob,
    marks: ReadonlyMap<number, string>,
    onText: (text: string) => void,
    sample: Job['sample'],
  ): Job {
    const { vocabulary } = this;
    return {
      tokens,
      sample,
      isComplete: isComplete,
      maxTokens: generation.maxTokens,
      stops: generation.stops,
      logprobs: generation.logprobs,
      detokenizer: detokenizer((part, before) => vocabulary.text(part, before), marks),
      isEnd: (token) => vocabulary.isEnd(token),
      spelling: vocabulary,
      pace: this.#pace,
      onToken: (text) => {
        this.#generated++;
        onText(text);
      },
    };
  }
}
