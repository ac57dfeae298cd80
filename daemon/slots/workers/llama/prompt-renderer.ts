import { Worker } from 'node:worker_threads';
import { Semaphore } from '../../../lib/async/semaphore.ts';
import { Refusal } from '../refusal.ts';
import { type ChatPrompt, chatPrompt, completePrompt, conversationOf } from './chat-prompt.ts';
import type { ChatRequest } from './chat-request.ts';
import { type ChatTemplate, refused, type TemplateFiles } from './chat-template.ts';
import { RenderTimeout, withTimeLimit } from './jinja.ts';
import type { RenderInput, RenderOutput } from './render-main.ts';

/** Time limits in milliseconds. */
export interface RenderLimits {
  /** On the event loop, where other answers wait for it. */
  readonly inlineMs: number;
  /** In a thread, which is started after that, with the wait for an earlier one. */
  readonly threadMs: number;
}

const LIMITS: RenderLimits = { inlineMs: 100, threadMs: 20_000 };
/** Heap of the thread. A prompt of 16 MB with 100,000 messages takes a tenth of it. */
const MAX_HEAP_MB = 1_024;

/**
 * Renders prompts. Some templates read all messages once per message: gpt-oss, Gemma 4 and Command R7B take 5 to 30 s
 * for 4,000 messages. Such a rendering goes on in a thread, one at a time, so that other answers of the engine
 * continue, and is refused after `threadMs`.
 */
export class PromptRenderer {
  readonly #template: ChatTemplate;
  readonly #files: TemplateFiles;
  readonly #limits: RenderLimits;
  readonly #thread = new Semaphore({ permits: 1 });

  constructor(template: ChatTemplate, files: TemplateFiles, limits = LIMITS) {
    this.#template = template;
    this.#files = files;
    this.#limits = limits;
  }

  /**
   * Returns the prompt of a chat. Throws a 400 when the template refuses the messages or takes too long, and the
   * reason of the signal.
   */
  async render(request: ChatRequest, signal: AbortSignal): Promise<ChatPrompt> {
    try {
      return withTimeLimit(this.#limits.inlineMs, () => chatPrompt(this.#template, request));
    } catch (error) {
      if (!(error instanceof RenderTimeout)) throw error;
    }
    return completePrompt(this.#template, request, await this.#inThread(request, signal));
  }

  async #inThread(request: ChatRequest, signal: AbortSignal): Promise<string> {
    const { threadMs } = this.#limits;
    const workerData: RenderInput = { files: this.#files, conversation: conversationOf(request) };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(threadMs)]);
    const output = await this.#thread
      .run(limit, () => runThread(workerData, limit))
      .catch((error: unknown) => {
        if (limit.aborted) return null;
        if (isOutOfMemory(error)) throw refused(`it needs more than ${MAX_HEAP_MB} MiB of memory`);
        throw error;
      });
    signal.throwIfAborted();
    if (output === null)
      throw refused(
        `it takes more than ${threadMs / 1_000} s for ${request.messages.length} messages. Send fewer messages`,
      );
    if (output.prompt !== undefined) return output.prompt;
    throw new Refusal(output.code, output.message, { param: 'messages' });
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Runs the thread. Returns null when the signal aborts first. Throws when the thread fails. */
async function runThread(workerData: RenderInput, signal: AbortSignal): Promise<RenderOutput | null> {
  const thread = new Worker(new URL('./render-main.ts', import.meta.url), {
    workerData,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<RenderOutput | null>();
  const stop = () => resolve(null);
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', (code) => reject(new Error(`the thread ended with status ${code}`)));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}
