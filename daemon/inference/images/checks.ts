import { randomInt } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { ImageModel } from '../../models/images/curated.ts';
import { invalid } from '../rewrite/body-index.ts';
import { type Drawing, EXTRAS, type Extra } from './drawing.ts';

/** Maximum characters of a prompt; OpenAI's limit. */
const MAX_PROMPT_LENGTH = 32_000;
const MAX_IMAGES = 8;
const SIZE = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/;
const [MIN_SIDE, MAX_SIDE, SIDE_STEP] = [64, 2048, 8];
const MAX_CFG = 30;
/** Limits of a seed: JSON numbers (2^53 − 1) for a given one, `randomInt` (2^48 − 1) for a random one. */
const MAX_SEED = Number.MAX_SAFE_INTEGER;
const MAX_RANDOM_SEED = 2 ** 48 - 1;

export type ImageForm = 'url' | 'b64_json';

/** A request as far as it can be checked before its model is known. */
export interface ImageRequestHead {
  readonly prompt: string;
  /** As the caller wrote it. */
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly form: ImageForm;
}

/** A complete request. */
export interface ImageRequest {
  readonly drawing: Drawing;
  readonly form: ImageForm;
  /** Parameters beyond OpenAI's that the caller set. */
  readonly requestedExtras: ReadonlySet<Extra>;
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/**
 * The first checks of `POST /v1/images/generations` in the order of docs/spec/contract.md#image-checks:
 * prompt (422 `image.prompt_required`), then model (422 `request.invalid`). `onlySlot` replaces a missing model.
 */
export function parseImageHead(
  body: Readonly<Record<string, unknown>>,
  onlySlot: () => string | null = () => null,
): ImageRequestHead {
  const { prompt } = body;
  const model = isBlank(body.model) ? onlySlot() : body.model;
  if (isBlank(prompt)) throw new GatewayError('image.prompt_required', { param: 'prompt' });
  if (typeof prompt !== 'string') throw invalid('prompt', 'must be a string');
  if (isBlank(model)) throw invalid('model', 'is required');
  if (typeof model !== 'string') throw invalid('model', 'must be a string');
  return { prompt, model, body, form: body.response_format === 'b64_json' ? 'b64_json' : 'url' };
}

/**
 * Runs the remaining checks: n, size, form, and the parameters beyond OpenAI's. Throws 422 `request.invalid`.
 */
export function parseImageRequest({ prompt, body }: ImageRequestHead, model: ImageModel): ImageRequest {
  if (prompt.length > MAX_PROMPT_LENGTH)
    throw invalid('prompt', `must have at most ${MAX_PROMPT_LENGTH} characters`);
  const count = whole(body.n, 'n', 1, MAX_IMAGES) ?? 1;
  const [width, height] = size(body.size, model);
  const form = formOf(body.response_format);
  if (body.stream === true) throw invalid('stream', 'is not supported for images');
  const extras = extrasOf(body);
  const seed = whole(extras.seed, 'seed', -1, MAX_SEED) ?? -1;
  const drawing: Drawing = {
    model,
    prompt,
    count,
    width,
    height,
    seed: seed < 0 ? randomInt(MAX_RANDOM_SEED) : seed,
    steps: whole(extras.steps, 'steps', 1, model.maxSteps) ?? model.steps,
    cfg: numeric(extras.cfg, 'cfg', 0, MAX_CFG) ?? model.cfg,
    negativePrompt: text(extras.negative_prompt, 'negative_prompt') ?? model.options?.negativePrompt ?? '',
  };
  return { drawing, form, requestedExtras: new Set(EXTRAS.filter((name) => !isAbsent(extras[name]))) };
}

const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

function numeric(value: unknown, path: string, least: number, most: number): number | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalid(path, `must be a number from ${least} to ${most}`);
}

function whole(value: unknown, path: string, least: number, most: number): number | null {
  if (isAbsent(value)) return null;
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number;
  throw invalid(path, `must be a whole number from ${least} to ${most}`);
}

function text(value: unknown, path: string): string | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'string' && value.length <= MAX_PROMPT_LENGTH) return value;
  throw invalid(path, `must be a string of at most ${MAX_PROMPT_LENGTH} characters`);
}

function size(value: unknown, model: ImageModel): [number, number] {
  if (isAbsent(value) || value === 'auto') return [model.width, model.height];
  const match = typeof value === 'string' ? SIZE.exec(value) : null;
  const sides = [Number(match?.[1]), Number(match?.[2])] as [number, number];
  const fits = (side: number) => side >= MIN_SIDE && side <= MAX_SIDE && side % SIDE_STEP === 0;
  if (sides.every(fits)) return sides;
  throw invalid('size', `must be auto or WxH, each side ${MIN_SIDE} to ${MAX_SIDE} and a multiple of 8`);
}

function formOf(value: unknown): ImageForm {
  if (isAbsent(value)) return 'url';
  if (value === 'url' || value === 'b64_json') return value;
  throw invalid('response_format', 'must be url or b64_json');
}

/** Reads `extra_body`, or its members merged into the top level, as Python clients send it. */
function extrasOf(body: Readonly<Record<string, unknown>>): Partial<Record<Extra, unknown>> {
  const nested = body.extra_body ?? {};
  if (typeof nested !== 'object' || Array.isArray(nested)) throw invalid('extra_body', 'must be an object');
  const inner = nested as Record<string, unknown>;
  return Object.fromEntries(EXTRAS.map((name) => [name, inner[name] ?? body[name]]));
}
