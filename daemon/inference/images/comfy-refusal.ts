import { GatewayError } from '../../contract/errors.ts';
import type { ImageModel } from '../../models/images/curated.ts';
import { badAnswer, listOf, objectOf } from './engine-request.ts';

/** The inputs of nodes that name files, with ComfyUI's word for the folder. */
const FILE_INPUT = /^(ckpt|unet|clip|vae|lora|control_net|style_model|model)_name\d?$/;
const WORD = /^[a-z0-9_]{1,40}$/i;
/** A class of nodes; custom ones have any name. */
export const NODE_CLASS = /^\w[\w .()+|:/-]{0,119}$/;

/** Returns 404 for a model whose files the engine does not have. The names come from our own list. */
export function notInstalled({ id, checkpoints, diffusionModels, encoders, vae }: ImageModel): GatewayError {
  const files = [...checkpoints, ...(checkpoints.length === 0 ? diffusionModels : [])];
  const parts =
    diffusionModels.length === 0
      ? []
      : [
          diffusionModels[0],
          ...Object.values(encoders?.files ?? {}).map(({ names }) => names[0]),
          ...(vae === null ? [] : [vae.names[0]]),
        ];
  return new GatewayError('model.not_found', {
    message: `The image engine does not have the files of ${id}.`,
    param: 'model',
    details: { reason: 'not_installed', files, ...(parts.length > 0 && { or_parts: parts }) },
  });
}

interface Fault {
  readonly type: unknown;
  readonly input: unknown;
  readonly value: unknown;
}

function faultsOf(answer: unknown): Fault[] {
  return Object.values(objectOf(objectOf(answer).node_errors)).flatMap((node) =>
    listOf(objectOf(node).errors).map((error) => {
      const { type, extra_info } = objectOf(error);
      const { input_name, received_value } = objectOf(extra_info);
      return { type, input: input_name, value: received_value };
    }),
  );
}

/**
 * Returns why ComfyUI rejected a workflow, from the body of a 400 or of a 200 with `node_errors`; null when
 * it accepted all of it. Reports the kinds of faults, the inputs, and the missing file or node, all of which the
 * workflow names. The details of ComfyUI are left out, because they contain file lists.
 */
export function graphRefusal(status: number, answer: unknown, model: ImageModel): GatewayError | null {
  const faults = faultsOf(answer);
  if (status === 200 && faults.length === 0) return null;
  const files = faults.filter(
    ({ type, input }) => type === 'value_not_in_list' && typeof input === 'string' && FILE_INPUT.test(input),
  );
  if (files.length > 0) return fileMissing(files, model);
  if (status !== 200 && status !== 400) {
    return badAnswer(
      `The image engine answered with HTTP status ${status}.`,
      undefined,
      'unexpected_status',
      status,
    );
  }
  const { type: own, extra_info } = objectOf(objectOf(answer).error);
  const { class_type } = objectOf(extra_info);
  if (own === 'missing_node_type' && typeof class_type === 'string' && NODE_CLASS.test(class_type)) {
    return new GatewayError('upstream.error', {
      message: `ComfyUI has no node ${class_type}. Install the custom node that contains it, or update ComfyUI.`,
      details: { reason: 'missing_node', node: class_type },
      noRetry: true,
    });
  }
  const kinds = [own, ...faults.flatMap(({ type, input }) => [type, input])];
  const words = kinds.filter((kind) => typeof kind === 'string' && WORD.test(kind));
  return new GatewayError('upstream.error', {
    message: 'The image engine did not take the workflow; it may be too old for this model.',
    details: { reason: 'invalid_graph', faults: [...new Set(words)].slice(0, 8) },
    noRetry: true,
  });
}

/** Returns 404 with the absent files as the workflow names them. */
function fileMissing(faults: readonly Fault[], model: ImageModel): GatewayError {
  const files = faults.flatMap(({ input, value }) =>
    typeof value === 'string' ? [`${input}: ${value}`] : [],
  );
  if (files.length === 0) return notInstalled(model);
  return new GatewayError('model.not_found', {
    message: `The image engine does not have the file ${files[0]}.`,
    param: 'model',
    details: { reason: 'not_installed', files: files.slice(0, 16) },
  });
}
