const MIB = 1024 * 1024;
/** Bytes that the engine's process takes in addition to weights, context window and compute buffers. */
const ENGINE_BYTES = 160 * MIB;
/** The properties of a model that decide how much memory it needs; null means unknown. */
export interface ModelSize {
  readonly sizeBytes: number;
  /** Bytes of keys and values for one token of the window, over all layers. */
  readonly kvBytesPerToken: number | null;
  /** Embedding width of the model, in values. */
  readonly embedding: number | null;
  /** Bytes measured on this machine when the model ran with these settings. */
  readonly measuredBytes: number | null;
}

/** The parts of the estimate, in bytes. */
export interface Need {
  readonly weights: number;
  readonly window: number;
  readonly compute: number;
  readonly engine: number;
  /** The measured bytes, otherwise the sum of the parts. */
  readonly total: number;
  readonly source: 'estimated' | 'measured';
}

/** Returns the bytes of the window for one token; an estimate by size when the header does not contain it. */
const windowPerToken = (model: ModelSize): number =>
  model.kvBytesPerToken ?? Math.min(256 * 1024, Math.max(1024, model.sizeBytes / 40_000));

/**
 * How a model is evaluated: the window in tokens per sequence, the number of sequences, and the tokens of one step,
 * which decide the size of the compute buffers.
 */
export interface Evaluation {
  readonly context: number;
  readonly sequences: number;
  readonly batch: number;
}

/** Returns the sum of the parts, ignoring any measurement. */
export const estimateOf = ({ weights, window, compute, engine }: Need): number =>
  weights + window + compute + engine;

/** Returns the memory that a model needs with this evaluation (docs/spec/contract.md#admission). */
export function needOf(model: ModelSize, { context, sequences, batch }: Evaluation): Need {
  const weights = model.sizeBytes;
  const window = Math.ceil(windowPerToken(model) * context * sequences);
  const compute = (model.embedding ?? 1024) * batch * 4 * 8;
  if (model.measuredBytes !== null) {
    return { weights, window, compute, engine: ENGINE_BYTES, total: model.measuredBytes, source: 'measured' };
  }
  const total = weights + window + compute + ENGINE_BYTES;
  return { weights, window, compute, engine: ENGINE_BYTES, total, source: 'estimated' };
}
