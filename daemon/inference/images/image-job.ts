import type { Outbound } from '../../lib/net/outbound.ts';
import type { Endpoint } from './ask.ts';
import type { Drawing, Extra } from './drawing.ts';

/** How far a drawing is. */
export interface Progress {
  readonly state: 'queued' | 'drawing';
  /** Share that is done, 0 to 1; null when the engine does not tell. */
  readonly fraction: number | null;
}

/** One order to an engine that draws. */
export interface ImageJob {
  readonly outbound: Outbound;
  readonly endpoint: Endpoint;
  /** The path of an OpenAI-style server below which `/images/generations` lies. */
  readonly base: string;
  /** The name by which an OpenAI-style server knows the model; null leaves it out. */
  readonly engineModel: string | null;
  readonly drawing: Drawing;
  /** Parameters beyond OpenAI's that the caller named. */
  readonly givenExtras: ReadonlySet<Extra>;
  /** The id that the job is to have where the engine lets us choose. */
  readonly promptId: string;
  /** Ends the drawing: the engine is told to stop, then the order rejects with the signal's reason. */
  readonly signal: AbortSignal;
  progress(progress: Progress): void;
}

/** What an engine has drawn; not looked at yet. */
export interface ImageResult {
  readonly promptId: string;
  readonly images: readonly Buffer[];
}

/** Draws on one kind of engine. Rejects with a GatewayError that tells nothing of the engine's inside. */
export type DrawImages = (order: ImageJob) => Promise<ImageResult>;
