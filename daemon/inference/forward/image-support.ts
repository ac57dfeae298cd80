import { LRUCache } from 'lru-cache';
import type { EngineFailure } from './engine-error.ts';

const MAX_MODELS = 256;
const TTL_MS = 30 * 60_000;

/** What servers say about images for a model without vision. */
const REFUSALS: readonly RegExp[] = [
  // llama-server, Ollama, OpenRouter
  /image input is not supported|support image input|required for image input/i,
  /(not|n't) support(ed)? (for )?(images?|vision)\b|images? (is|are) not supported/i,
  // vLLM
  /not a multi-?modal|at most 0 image/i,
  // OpenAI, DeepSeek
  /image_url is only supported|unknown variant .?image_url/i,
  // the embedded engine of another gateway
  /reads text only/i,
];
/** Maximum bytes of an error that are searched. */
const MAX_SEARCHED = 4096;

/** Remembers which models of other servers refused images, so that the next request has placeholders. */
export class ImageSupport {
  readonly #refused = new LRUCache<string, true>({ max: MAX_MODELS, ttl: TTL_MS });

  isRefused(origin: string, model: string | null): boolean {
    return this.#refused.get(keyOf(origin, model)) === true;
  }

  recordFailure(origin: string, model: string | null, { status, bytes }: EngineFailure): void {
    if (status < 400) return;
    const text = bytes.subarray(0, MAX_SEARCHED).toString('utf8');
    if (REFUSALS.some((refusal) => refusal.test(text))) this.#refused.set(keyOf(origin, model), true);
  }
}

const keyOf = (origin: string, model: string | null): string => `${origin} ${model ?? ''}`;
