import { GatewayError } from '../../contract/errors.ts';
import type { CuratedModel } from './curated.ts';
import { badAnswer, listOf, objectOf } from './engine-request.ts';

/** The inputs of nodes that name files. */
const FILE_INPUTS: ReadonlySet<unknown> = new Set([
  'ckpt_name',
  'unet_name',
  'clip_name1',
  'clip_name2',
  'vae_name',
]);
const WORD = /^[a-z0-9_]{1,40}$/i;

/** Returns 404 for a curated model whose files the engine does not have. The names come from our own list. */
export function notInstalled({ id, checkpoints, split }: CuratedModel): GatewayError {
  const parts = split === null ? [] : [split.unet, split.t5, split.clip, split.vae].map(([first]) => first);
  return new GatewayError('model.not_found', {
    message: `The image engine does not have the files of ${id}.`,
    param: 'model',
    details: { reason: 'not_installed', files: checkpoints, ...(parts.length > 0 && { or_parts: parts }) },
  });
}

interface Fault {
  readonly type: unknown;
  readonly input: unknown;
}

function faultsOf(answer: unknown): Fault[] {
  return Object.values(objectOf(objectOf(answer).node_errors)).flatMap((node) =>
    listOf(objectOf(node).errors).map((error) => {
      const { type, extra_info } = objectOf(error);
      return { type, input: objectOf(extra_info).input_name };
    }),
  );
}

/**
 * Returns why ComfyUI rejected a workflow, from the body of a 400 or of a 200 with `node_errors`; null when
 * it accepted all of it. Reports only the kinds of faults and the inputs, because the details contain file
 * lists.
 */
export function graphRefusal(status: number, answer: unknown, model: CuratedModel): GatewayError | null {
  const faults = faultsOf(answer);
  if (status === 200 && faults.length === 0) return null;
  if (faults.some(({ type, input }) => type === 'value_not_in_list' && FILE_INPUTS.has(input))) {
    return notInstalled(model);
  }
  if (status !== 200 && status !== 400) {
    return badAnswer('The image engine answered with an unexpected status.', undefined, 'unexpected_status');
  }
  const own = objectOf(objectOf(answer).error).type;
  const kinds = [own, ...faults.flatMap(({ type, input }) => [type, input])];
  const words = kinds.filter((kind) => typeof kind === 'string' && WORD.test(kind));
  return new GatewayError('upstream.error', {
    message: 'The image engine did not take the workflow; it may be too old for this model.',
    details: { reason: 'invalid_graph', faults: [...new Set(words)].slice(0, 8) },
    noRetry: true,
  });
}
