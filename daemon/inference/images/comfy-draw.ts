import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import type { Workflow } from '../../contract/workflow.ts';
import { ComfyClient } from './comfy-client.ts';
import type { ComfyEvent } from './comfy-events.ts';
import type { ComfyFile } from './comfy-history.ts';
import { notInstalled } from './comfy-refusal.ts';
import { type ComfySubscription, subscribeComfy } from './comfy-watch.ts';
import { badAnswer, requestSender } from './engine-request.ts';
import type { Graph } from './graphs.ts';
import type { DrawImages, ImageJob, ImageResult } from './image-job.ts';
import { WakeableDelay } from './wakeable-delay.ts';
import { chooseWeights, LOADER_INPUTS } from './weights.ts';
import { ownerGraph, workflowGraph } from './workflow-graph.ts';

/** Poll intervals in milliseconds: with events, and without them (first and longest). */
const POLL_MS = { withEvents: 5_000, first: 200, longest: 1_000 } as const;
/** Maximum consecutive polls without a response: an engine that loads a model may be busy. */
const MAX_MISSED = 4;
/**
 * Maximum consecutive polls in which neither queue nor history contains the job: it may be moving between
 * them.
 */
const MAX_ABSENT = 2;

/**
 * Draws with ComfyUI: submits a workflow, follows its events and reads its history
 * (docs/spec/specification.md#images).
 */
export const drawWithComfy: DrawImages = async (order) => {
  const client = new ComfyClient(requestSender(order.outbound, order.endpoint));
  const job = new ComfyJob(order, client);
  try {
    return await job.run();
  } finally {
    job.close();
  }
};

class ComfyJob {
  readonly #job: ImageJob;
  readonly #client: ComfyClient;
  readonly #clientId = randomUUID();
  readonly #delay = new WakeableDelay();
  readonly #events: ComfySubscription;
  #id: string | null = null;
  #fraction: number | null = null;

  constructor(job: ImageJob, client: ComfyClient) {
    this.#job = job;
    this.#client = client;
    this.#events = subscribeComfy(job.endpoint, this.#clientId, {
      jobId: () => this.#id,
      isSampler: samplerOf(job.drawing.model.workflow),
      onEvent: (event) => this.#onEvent(event),
      onPreview: (image) => job.onPreview?.(image, this.#fraction ?? 0),
      onClosed: () => this.#delay.wake(),
    });
  }

  close(): void {
    this.#events.close();
  }

  async run(): Promise<ImageResult> {
    const { drawing, promptId, signal } = this.#job;
    const graph = ownerGraph(drawing) ?? workflowGraph(drawing, await this.#weights());
    signal.throwIfAborted();
    // Events of a job whose id we choose may arrive before the response to its submission.
    this.#id = promptId;
    const id = await this.#submit(graph);
    this.#id = id;
    try {
      const files = await this.#pollUntilDone(id);
      const images: Buffer[] = [];
      for (const file of files) images.push(await this.#client.fetchImage(file, signal));
      return { promptId: id, images };
    } finally {
      if (signal.aborted) await this.#client.cancel(id);
      else await this.#client.removeFromHistory(id);
    }
  }

  async #submit(graph: Graph): Promise<string> {
    const { drawing, promptId } = this.#job;
    try {
      return await this.#client.submit({
        graph,
        model: drawing.model,
        promptId,
        clientId: this.#clientId,
        previews: this.#job.onPreview !== undefined,
      });
    } catch (error) {
      // The engine may nevertheless have received it.
      if (isNoResponse(error)) await this.#client.cancel(promptId);
      throw error;
    }
  }

  async #weights() {
    const { drawing, signal } = this.#job;
    const weights = await chooseWeights(drawing.model, (kind) => {
      const [nodeClass, input] = LOADER_INPUTS[kind];
      return this.#client.choices(nodeClass, input, signal);
    });
    if (weights === null) throw notInstalled(drawing.model);
    return weights;
  }

  #onEvent(event: ComfyEvent): void {
    if (event.is === 'over') {
      this.#delay.wake();
      return;
    }
    this.#fraction = event.is === 'step' ? event.share : (this.#fraction ?? 0);
    this.#job.progress({ state: 'drawing', fraction: this.#fraction });
  }

  /** Waits for the end of the job and returns its images. Throws the failure of the job. */
  async #pollUntilDone(id: string): Promise<readonly ComfyFile[]> {
    let [missed, absent, wait] = [0, 0, POLL_MS.first as number];
    for (;;) {
      const status = await this.#poll(id).catch((error: unknown) => {
        if (!isNoResponse(error) || ++missed > MAX_MISSED) throw error;
        return 'unknown' as const;
      });
      if (status !== 'unknown') missed = 0;
      if (typeof status === 'object') return status;
      absent = status === 'absent' ? absent + 1 : 0;
      if (absent > MAX_ABSENT) throw badAnswer('The image engine has lost the job.', undefined, 'lost');
      const quiet = this.#events.alive && status === 'there';
      await this.#delay.wait(quiet ? POLL_MS.withEvents : wait, this.#job.signal);
      wait = Math.min(POLL_MS.longest, wait * 1.5);
    }
  }

  async #poll(id: string): Promise<readonly ComfyFile[] | 'absent' | 'there'> {
    const { drawing, signal } = this.#job;
    const files = await this.#client.outcome(id, drawing.count, signal);
    if (files !== null) return files;
    const position = await this.#client.queuePosition(id, signal);
    if (position === null) return 'absent';
    this.#job.progress(
      position > 0 ? { state: 'queued', fraction: null } : { state: 'drawing', fraction: this.#fraction },
    );
    return 'there';
  }
}

/** Returns whether the engine did not respond in time: the state of the job is unknown. */
const isNoResponse = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.code === 'dispatch.upstream_unavailable' || error.code === 'dispatch.upstream_timeout');

/** Returns which nodes of the owner's workflow report the progress; undefined for a workflow of the gateway. */
function samplerOf(workflow: Workflow | undefined): ((node: unknown) => boolean) | undefined {
  if (workflow === undefined) return undefined;
  return (node) => typeof node === 'string' && /sampler/i.test(workflow.graph[node]?.class_type ?? '');
}
