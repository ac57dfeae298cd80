import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import { askAt, badAnswer } from './ask.ts';
import { ComfyClient } from './comfy-client.ts';
import type { ComfyEvent } from './comfy-events.ts';
import type { ComfyFile } from './comfy-history.ts';
import { notInstalled } from './comfy-refusal.ts';
import { type ComfyWatch, watchComfy } from './comfy-watch.ts';
import type { Draw, Drawn, DrawOrder } from './image-job.ts';
import { Nudge } from './wakeable-delay.ts';
import { chooseWeights, PLACES } from './weights.ts';
import { type Graph, workflowGraph } from './workflow-graph.ts';

/** Between two questions, in milliseconds: while events come, and without them (the first, and the longest). */
const PACE = { withEvents: 5_000, first: 200, longest: 1_000 } as const;
/** Questions in a row that may go unanswered: a model that is being loaded leaves an engine no time. */
const MOST_MISSED = 4;
/** Looks in a row in which neither queue nor history hold the job: in between, it may move from one to the other. */
const MOST_ABSENT = 2;

/**
 * Draws with ComfyUI: submits a workflow, follows its events and reads its history
 * (docs/spec/specification.md#images).
 */
export const drawWithComfy: Draw = async (order) => {
  const client = new ComfyClient(askAt(order.outbound, order.place));
  const job = new ComfyJob(order, client);
  try {
    return await job.run();
  } finally {
    job.close();
  }
};

class ComfyJob {
  readonly #order: DrawOrder;
  readonly #client: ComfyClient;
  readonly #clientId = randomUUID();
  readonly #nudge = new Nudge();
  readonly #watch: ComfyWatch;
  #id: string | null = null;
  #share: number | null = null;

  constructor(order: DrawOrder, client: ComfyClient) {
    this.#order = order;
    this.#client = client;
    this.#watch = watchComfy(order.place, this.#clientId, {
      job: () => this.#id,
      heard: (event) => this.#heard(event),
      deaf: () => this.#nudge.now(),
    });
  }

  close(): void {
    this.#watch.close();
  }

  async run(): Promise<Drawn> {
    const { drawing, promptId, signal } = this.#order;
    const graph = workflowGraph(drawing, await this.#weights());
    signal.throwIfAborted();
    // Events of a job whose id we choose may come before its submission is answered.
    this.#id = promptId;
    const id = await this.#submit(graph);
    this.#id = id;
    try {
      const files = await this.#follow(id);
      const pictures: Buffer[] = [];
      for (const file of files) pictures.push(await this.#client.picture(file, signal));
      return { promptId: id, pictures };
    } finally {
      if (signal.aborted) await this.#client.takeBack(id);
      else await this.#client.forget(id);
    }
  }

  async #submit(graph: Graph): Promise<string> {
    const { drawing, promptId } = this.#order;
    try {
      return await this.#client.submit({
        graph,
        model: drawing.model,
        promptId,
        clientId: this.#clientId,
      });
    } catch (error) {
      // It may have been received all the same.
      if (isSilence(error)) await this.#client.takeBack(promptId);
      throw error;
    }
  }

  async #weights() {
    const { drawing, signal } = this.#order;
    const weights = await chooseWeights(drawing.model, (kind) => {
      const [nodeClass, input] = PLACES[kind];
      return this.#client.choices(nodeClass, input, signal);
    });
    if (weights === null) throw notInstalled(drawing.model);
    return weights;
  }

  #heard(event: ComfyEvent): void {
    if (event.is === 'over') {
      this.#nudge.now();
      return;
    }
    this.#share = event.is === 'step' ? event.share : (this.#share ?? 0);
    this.#order.progress({ state: 'drawing', share: this.#share });
  }

  /** Waits for the end of the job; its pictures, or throws what went wrong. */
  async #follow(id: string): Promise<readonly ComfyFile[]> {
    let [missed, absent, wait] = [0, 0, PACE.first as number];
    for (;;) {
      const look = await this.#look(id).catch((error: unknown) => {
        if (!isSilence(error) || ++missed > MOST_MISSED) throw error;
        return 'unknown' as const;
      });
      if (look !== 'unknown') missed = 0;
      if (typeof look === 'object') return look;
      absent = look === 'absent' ? absent + 1 : 0;
      if (absent > MOST_ABSENT) throw badAnswer('The image engine has lost the job.', undefined, 'lost');
      const quiet = this.#watch.alive && look === 'there';
      await this.#nudge.wait(quiet ? PACE.withEvents : wait, this.#order.signal);
      wait = Math.min(PACE.longest, wait * 1.5);
    }
  }

  async #look(id: string): Promise<readonly ComfyFile[] | 'absent' | 'there'> {
    const { drawing, signal } = this.#order;
    const files = await this.#client.outcome(id, drawing.count, signal);
    if (files !== null) return files;
    const place = await this.#client.place(id, signal);
    if (place === null) return 'absent';
    this.#order.progress(
      place > 0 ? { state: 'queued', share: null } : { state: 'drawing', share: this.#share },
    );
    return 'there';
  }
}

/** The engine did not answer, or not in time: nothing is known of the job. */
const isSilence = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.code === 'dispatch.upstream_unavailable' || error.code === 'dispatch.upstream_timeout');
