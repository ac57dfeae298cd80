import { setTimeout as pause } from 'node:timers/promises';
import type { ImageModel } from '../../models/images/curated.ts';
import { type ComfyFile, choicesOf, historyOutcome, queuePositionOf } from './comfy-history.ts';
import { graphRefusal } from './comfy-refusal.ts';
import { badAnswer, type EngineReply, objectOf, type SendRequest } from './engine-request.ts';
import type { Graph } from './graphs.ts';
import { MAX_IMAGE_BYTES } from './limits.ts';

/** An engine that loads a model may respond slowly. */
const RESPONSE_LIMIT_MS = 15_000;
/** Queue and history contain whole workflows, also those of other clients. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Total time for cancelling a job. */
const CANCEL_LIMIT_MS = 5_000;

const noAnswer = (what: string, { status }: EngineReply) =>
  badAnswer(`The image engine ${what} (HTTP status ${status}).`, undefined, 'bad_answer', status);

export interface Submission {
  readonly graph: Graph;
  readonly model: ImageModel;
  /** The requested job id; older versions choose their own. */
  readonly promptId: string;
  /** The client id that receives its events. */
  readonly clientId: string;
  /** Whether previews are wanted; a recent version makes them for this job alone. */
  readonly previews: boolean;
}

/**
 * The calls of ComfyUI that drawing needs. Each rejects with a GatewayError in our words, or with the reason
 * of the signal.
 */
export class ComfyClient {
  readonly #sendRequest: SendRequest;

  constructor(send: SendRequest) {
    this.#sendRequest = send;
  }

  /** Returns the values that an input of a node accepts; null when the engine does not report them. */
  async choices(nodeClass: string, input: string, signal: AbortSignal): Promise<readonly string[] | null> {
    const reply = await this.#get(`/object_info/${nodeClass}`, signal);
    return reply.status === 200 ? choicesOf(reply.json(), nodeClass, input) : null;
  }

  /** Returns the arguments of the engine's process; empty when it does not report them. */
  async arguments(signal: AbortSignal): Promise<readonly string[]> {
    const reply = await this.#get('/system_stats', signal);
    const { argv } = objectOf(objectOf(reply.json()).system);
    return Array.isArray(argv) ? argv.filter((each) => typeof each === 'string') : [];
  }

  /** Returns the metadata of a safetensors file; empty when it has none or the engine does not report it. */
  async metadata(folder: string, file: string, signal: AbortSignal): Promise<Record<string, unknown>> {
    const query = new URLSearchParams({ filename: file });
    const reply = await this.#get(`/view_metadata/${folder}?${query}`, signal);
    return reply.status === 200 ? objectOf(reply.json()) : {};
  }

  /**
   * Submits a workflow and returns the id of its job. Not abortable: only a submitted job can be cancelled.
   */
  async submit({ graph, model, promptId, clientId, previews }: Submission): Promise<string> {
    const extra = previews ? { extra_data: { preview_method: 'auto' } } : {};
    const body = { prompt: graph, client_id: clientId, prompt_id: promptId, ...extra };
    const reply = await this.#post('/prompt', body, new AbortController().signal);
    const answer = reply.json();
    const { prompt_id } = objectOf(answer);
    const id = typeof prompt_id === 'string' && prompt_id !== '' ? prompt_id : null;
    const refusal = graphRefusal(reply.status, answer, model);
    if (refusal !== null && id !== null) await this.cancel(id);
    if (refusal !== null) throw refusal;
    if (id === null) throw badAnswer('The response of the image engine has no job id.');
    return id;
  }

  /** Returns null while the job is running, else its images. Throws the failure of the job. */
  async outcome(id: string, most: number, signal: AbortSignal): Promise<readonly ComfyFile[] | null> {
    const reply = await this.#get(`/history/${encodeURIComponent(id)}`, signal);
    if (reply.status !== 200) throw noAnswer('does not report the state of the job', reply);
    return historyOutcome(reply.json(), id, most);
  }

  /** Returns the number of jobs ahead, 0 while it runs, null when the queue does not contain it. */
  async queuePosition(id: string, signal: AbortSignal): Promise<number | null> {
    const reply = await this.#get('/queue', signal);
    if (reply.status !== 200) throw noAnswer('does not report its queue', reply);
    return queuePositionOf(reply.json(), id);
  }

  async fetchImage({ filename, subfolder, type }: ComfyFile, signal: AbortSignal): Promise<Buffer> {
    const query = new URLSearchParams({ filename, subfolder, type });
    const limits = { limitMs: 60_000, maxBytes: MAX_IMAGE_BYTES };
    const reply = await this.#sendRequest({ path: `/view?${query}`, ...limits }, signal);
    if (reply.status !== 200) throw noAnswer('does not return the image', reply);
    return reply.bytes;
  }

  /** Deletes the prompt of a finished job from the engine's history. Never throws. */
  async removeFromHistory(id: string): Promise<void> {
    await this.#post('/history', { delete: [id] }, AbortSignal.timeout(CANCEL_LIMIT_MS)).catch(() => {});
  }

  /**
   * Removes a job from the queue, or interrupts it while it runs. Never affects jobs of others, also with
   * versions whose interrupt affects whatever runs. Never throws.
   */
  async cancel(id: string): Promise<void> {
    const signal = AbortSignal.timeout(CANCEL_LIMIT_MS);
    try {
      await this.#post('/queue', { delete: [id] }, signal);
      if ((await this.queuePosition(id, signal)) === 0)
        await this.#post('/interrupt', { prompt_id: id }, signal);
      while ((await this.queuePosition(id, signal)) !== null) await pause(100, undefined, { signal });
      await this.removeFromHistory(id);
    } catch {
      // The engine is unreachable or too slow.
    }
  }

  #get(path: string, signal: AbortSignal) {
    return this.#sendRequest({ path, limitMs: RESPONSE_LIMIT_MS, maxBytes: MAX_JSON_BYTES }, signal);
  }

  #post(path: string, body: unknown, signal: AbortSignal) {
    return this.#sendRequest({ path, body, limitMs: RESPONSE_LIMIT_MS, maxBytes: MAX_JSON_BYTES }, signal);
  }
}
