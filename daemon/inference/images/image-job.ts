import type { Outbound } from '../../lib/net/outbound.ts';
import type { Drawing } from './drawing.ts';
import type { Endpoint } from './engine-request.ts';

/** The progress of a job. */
export interface Progress {
  readonly state: 'queued' | 'drawing';
  /** Finished fraction, 0 to 1; null when the engine does not report it. */
  readonly fraction: number | null;
}

/** One job for an image engine. */
export interface ImageJob {
  readonly outbound: Outbound;
  readonly endpoint: Endpoint;
  readonly drawing: Drawing;
  /** The requested job id, for engines that accept one. */
  readonly promptId: string;
  /**
   * Aborts the job: it rejects with the reason of the signal, after the engine was stopped or `onUnstoppable` was called.
   */
  readonly signal: AbortSignal;
  /** Aborts when the gateway stops: nothing waits for an engine then. */
  readonly stopped: AbortSignal;
  progress(progress: Progress): void;
  /** Called for an aborted job that the engine cannot stop. `idle` settles when the engine has finished it. */
  onUnstoppable(idle: Promise<unknown>): void;
  /** Receives previews of the image that is being drawn, if the engine makes any; absent when none are wanted. */
  readonly onPreview?: ((image: Buffer, fraction: number) => void) | undefined;
}

/** The unchecked output of an engine. */
export interface ImageResult {
  readonly promptId: string;
  readonly images: readonly Buffer[];
}

/** Draws on one kind of engine. Rejects with a GatewayError that reveals no internals of the engine. */
export type DrawImages = (job: ImageJob) => Promise<ImageResult>;
