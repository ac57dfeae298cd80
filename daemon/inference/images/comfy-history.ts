import { GatewayError } from '../../contract/errors.ts';
import { NODE_CLASS } from './comfy-refusal.ts';
import { badAnswer, DrawingFailed, listOf, objectOf } from './engine-request.ts';
import { OUTPUT } from './graphs.ts';

/** An image with the names that ComfyUI gave it. */
export interface ComfyFile {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 1024;

function fileOf(value: unknown): ComfyFile {
  const { filename, subfolder = '', type = 'output' } = objectOf(value);
  if (isText(filename) && isText(subfolder) && isText(type)) return { filename, subfolder, type };
  throw badAnswer('The image engine reported an image without a name.');
}

/**
 * Reads `GET /history/{id}`: null while the job is running, else its images. Throws the failure in our words:
 * the engine's own messages contain file names and jobs of others.
 */
export function historyOutcome(answer: unknown, id: string, most: number): readonly ComfyFile[] | null {
  const entry = objectOf(answer)[id];
  if (entry === undefined) return null;
  const { status, outputs } = objectOf(entry);
  const messages = listOf(objectOf(status).messages).map(listOf);
  if (objectOf(status).status_str === 'error') throw failureOf(messages);
  const images = imagesIn(objectOf(outputs));
  if (images.length === 0) throw badAnswer('The image engine finished without an image.');
  return images.slice(0, most).map(fileOf);
}

/**
 * Returns the images of the gateway's output node or, in a workflow of the owner, of all its outputs: the saved ones,
 * otherwise the previews.
 */
function imagesIn(outputs: Record<string, unknown>): readonly unknown[] {
  const own = listOf(objectOf(outputs[OUTPUT]).images);
  const all = Object.values(outputs).flatMap((node) => listOf(objectOf(node).images));
  if (own.length === all.length) return own;
  const saved = all.filter((image) => objectOf(image).type === 'output');
  return saved.length > 0 ? saved : all;
}

function failureOf(messages: readonly (readonly unknown[])[]): GatewayError {
  const messageOf = (name: string) => messages.find(([type]) => type === name);
  if (messageOf('execution_interrupted')) {
    return badAnswer('The drawing was interrupted at the image engine.', undefined, 'interrupted');
  }
  const report = objectOf(messageOf('execution_error')?.[1]);
  const { exception_type, exception_message } = report;
  const isOutOfMemory = isText(exception_type) && /OutOfMemory/i.test(exception_type);
  const place = placeOf(report);
  return new DrawingFailed(
    (isOutOfMemory ? outOfMemory() : executionError(place)).with({ details: { ...place } }),
    exception_message,
  );
}

interface FailedPlace {
  /** The class of the node. */
  readonly node?: string;
  readonly node_id?: string;
  /** The class of the exception without its module. */
  readonly exception?: string;
}

/** Returns where ComfyUI failed, as far as it says so in words of the expected form. */
function placeOf({ node_type, node_id, exception_type }: Record<string, unknown>): FailedPlace {
  const exception = isText(exception_type) ? /[A-Za-z_]\w{0,79}$/.exec(exception_type)?.[0] : undefined;
  return {
    ...(isText(node_type) && NODE_CLASS.test(node_type) && { node: node_type }),
    ...(isText(node_id) && /^[\w:.-]{1,64}$/.test(node_id) && { node_id }),
    ...(exception !== undefined && { exception }),
  };
}

function executionError({ node, exception }: FailedPlace): GatewayError {
  const at = node === undefined ? '' : ` in node ${node}`;
  const why = exception === undefined ? '' : `: ${exception}`;
  return badAnswer(`The image engine failed while it was drawing${at}${why}.`, undefined, 'execution_error');
}

/** Returns 507 for an engine whose device memory is full. */
export const outOfMemory = (): GatewayError =>
  new GatewayError('slot.no_memory', {
    message: 'The image engine ran out of memory. Request a smaller size or fewer images.',
    details: { reason: 'out_of_memory' },
    noRetry: true,
  });

/**
 * Returns the position in `GET /queue`: jobs ahead (0: it runs), or null when the queue does not contain it.
 */
export function queuePositionOf(answer: unknown, id: string): number | null {
  const { queue_running, queue_pending } = objectOf(answer);
  const idOf = (item: unknown) => listOf(item)[1];
  const running = listOf(queue_running);
  if (running.some((item) => idOf(item) === id)) return 0;
  const pending = [...listOf(queue_pending)].sort((a, b) => Number(listOf(a)[0]) - Number(listOf(b)[0]));
  const at = pending.findIndex((item) => idOf(item) === id);
  return at < 0 ? null : at + Math.max(1, running.length);
}

/**
 * Returns the values that an input of a node accepts, from `GET /object_info/{class}`; null when not
 * reported.
 */
export function choicesOf(answer: unknown, nodeClass: string, input: string): readonly string[] | null {
  const { required } = objectOf(objectOf(objectOf(answer)[nodeClass]).input);
  const [kind, options] = listOf(objectOf(required)[input]);
  const list = Array.isArray(kind) ? kind : objectOf(options).options;
  return Array.isArray(list) ? list.filter(isText) : null;
}
