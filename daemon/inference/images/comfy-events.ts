import { objectOf } from './engine-request.ts';
import { SAMPLER } from './graphs.ts';

/** What a message of `GET /ws` means for one job. */
export type ComfyEvent =
  /** Fraction of finished steps, 0 to 1. */
  | { readonly is: 'step'; readonly share: number }
  | { readonly is: 'started' }
  /** The job has ended; the history contains the outcome. */
  | { readonly is: 'over' };

/** Messages after which the history contains the job. */
const LAST: ReadonlySet<unknown> = new Set(['execution_success', 'execution_error', 'execution_interrupted']);

/** The sampler of a workflow of the gateway. */
const isOwnSampler = (node: unknown): boolean => node === SAMPLER;

/** Parses one message for the job `id`; null for other jobs and irrelevant messages. */
export function comfyEvent(
  message: string,
  id: string,
  isSampler: (node: unknown) => boolean = isOwnSampler,
): ComfyEvent | null {
  let type: unknown;
  let data: Record<string, unknown>;
  try {
    const parsed = objectOf(JSON.parse(message));
    [type, data] = [parsed.type, objectOf(parsed.data)];
  } catch {
    return null;
  }
  if (data.prompt_id !== id) return null;
  if (LAST.has(type) || (type === 'executing' && data.node === null)) return { is: 'over' };
  if (type === 'execution_start') return { is: 'started' };
  return type === 'progress' ? stepOf(data, isSampler) : null;
}

/** Reports steps of the sampler only: other nodes count tiles and files. */
function stepOf(
  { node, value, max }: Record<string, unknown>,
  isSampler: (node: unknown) => boolean,
): ComfyEvent | null {
  if (node !== undefined && !isSampler(node)) return null;
  if (typeof value !== 'number' || typeof max !== 'number' || !(max > 0)) return null;
  return { is: 'step', share: Math.min(1, Math.max(0, value / max)) };
}
