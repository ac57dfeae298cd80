const MIB = 1024 * 1024;
/** What the engine's process takes beside weights, window and compute buffers. */
const ENGINE_BYTES = 160 * MIB;
/** Facts of a model that decide what it needs; null is "not known". */
export interface ModelSize {
  readonly sizeBytes: number;
  /** Keys and values of one token of the window, in bytes, over all layers. */
  readonly kvBytesPerToken: number | null;
  /** Width of the model, in values. */
  readonly embedding: number | null;
  /** Measured on this machine once the model has run with these settings. */
  readonly measuredBytes: number | null;
}

/** The parts of the sum, in bytes. */
export interface Need {
  readonly weights: number;
  readonly window: number;
  readonly compute: number;
  readonly engine: number;
  /** What it takes here: as it was measured, else the sum of the parts. */
  readonly total: number;
  readonly source: 'estimated' | 'measured';
}

/** Bytes of the window for one token; a guess by size when the header does not tell. */
const windowPerToken = (model: ModelSize): number =>
  model.kvBytesPerToken ?? Math.min(256 * 1024, Math.max(1024, model.sizeBytes / 40_000));

/** How a model is evaluated: the window in tokens per sequence, and the tokens of one step, with which the compute buffers grow. */
export interface Evaluation {
  readonly context: number;
  readonly sequences: number;
  readonly batch: number;
}

/** The sum of the parts, whatever was measured. */
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
