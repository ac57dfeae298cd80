import { randomInt } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { ImageFormat } from '../../lib/media/image-format.ts';
import type { ImageModel } from '../../models/images/curated.ts';
import { invalid } from '../rewrite/body-index.ts';
import { type Drawing, EXTRAS, type Extra } from './drawing.ts';

/** Maximum characters of a prompt; OpenAI's limit. */
const MAX_PROMPT_LENGTH = 32_000;
const MAX_IMAGES = 8;
const SIZE = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/;
const [MIN_SIDE, MAX_SIDE, SIDE_STEP] = [64, 2048, 8];
const MAX_CFG = 30;
/** OpenAI's limit. */
const MAX_PARTIAL_IMAGES = 3;
/** Settings of OpenAI's API that no engine of the gateway follows, and the values that change nothing. */
const UNFOLLOWED: Readonly<Record<string, readonly unknown[]>> = {
  quality: ['auto'],
  background: ['auto', 'opaque'],
  style: [],
  moderation: ['auto', 'low'],
};
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
  /** Null unless the caller wants a stream. */
  readonly stream: { readonly partialImages: number } | null;
}

/** A complete request. */
export interface ImageRequest {
  readonly drawing: Drawing;
  readonly form: ImageForm;
  /** Parameters beyond OpenAI's that the caller set. */
  readonly requestedExtras: ReadonlySet<Extra>;
  readonly output: { readonly format: ImageFormat; readonly quality: number | null };
  /** Other parameters of OpenAI that the caller set and no engine follows. */
  readonly unfollowed: readonly string[];
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
  const partialImages = whole(body.partial_images, 'partial_images', 0, MAX_PARTIAL_IMAGES) ?? 0;
  return {
    ...{ prompt, model, body },
    form: body.response_format === 'b64_json' ? 'b64_json' : 'url',
    stream: body.stream === true ? { partialImages } : null,
  };
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
  const requestedExtras = new Set(EXTRAS.filter((name) => !isAbsent(extras[name])));
  const hasSize = !isAbsent(body.size) && body.size !== 'auto';
  const requested = new Set<string>([...requestedExtras, ...(hasSize ? ['width', 'height'] : [])]);
  const unfollowed = Object.keys(UNFOLLOWED).filter(
    (name) => !isAbsent(body[name]) && !UNFOLLOWED[name]?.includes(body[name]),
  );
  const absent = unmapped(model, {
    ...(hasSize && { size: true }),
    ...(count > 1 && { n: true }),
    ...extras,
  });
  return {
    drawing: { ...drawing, requested },
    output: outputOf(body),
    ...{ form, requestedExtras, unfollowed: [...unfollowed, ...absent] },
  };
}

const FORMATS: readonly ImageFormat[] = ['png', 'jpeg', 'webp'];

/** Returns the output that a forwarded request wants; null when it names none. Its receiver checks the values. */
export function wantedOutput({
  output_format: format,
  output_compression: quality,
}: ImageRequestHead['body']): ImageRequest['output'] | null {
  const wanted = FORMATS.find((each) => each === format);
  if (wanted === undefined) return null;
  const isQuality = Number.isInteger(quality) && (quality as number) >= 0 && (quality as number) <= 100;
  return { format: wanted, quality: isQuality ? (quality as number) : null };
}

/** Returns the number of images that a forwarded request wants. */
export const wantedCount = ({ n }: ImageRequestHead['body']): number =>
  Number.isSafeInteger(n) && (n as number) > 1 ? (n as number) : 1;

function outputOf(body: Readonly<Record<string, unknown>>): ImageRequest['output'] {
  const { output_format: named } = body;
  const format = isAbsent(named) ? 'png' : FORMATS.find((each) => each === named);
  if (format === undefined) throw invalid('output_format', 'must be png, jpeg or webp');
  const quality = whole(body.output_compression, 'output_compression', 0, 100);
  return { format, quality };
}

/** Returns the settings of a request that a workflow of the owner has no inputs for. */
function unmapped({ workflow }: ImageModel, values: Readonly<Record<string, unknown>>): string[] {
  if (workflow === undefined) return [];
  const { mapping } = workflow;
  const takes = {
    n: mapping.n,
    size: mapping.width && mapping.height,
    seed: mapping.seed,
    steps: mapping.steps,
  };
  return Object.entries(takes).flatMap(([name, inputs]) => (inputs || isAbsent(values[name]) ? [] : [name]));
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
