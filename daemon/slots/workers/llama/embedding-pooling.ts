/** Values of `pooling_type` that produce one vector per text: mean, first token, last token. */
const POOLINGS: ReadonlySet<unknown> = new Set([1, 2, 3]);

/** The part of a GGUF header that is read here. */
export interface PoolingHeader {
  general?: { architecture?: string };
}

/**
 * Returns how the file pools token vectors into one. Throws an Error when the file does not say: a guess
 * would produce plausible but wrong vectors.
 */
export function poolingOf(header: PoolingHeader): number {
  const architecture = header.general?.architecture ?? '';
  const keys = (header as Record<string, { pooling_type?: unknown } | undefined>)[architecture];
  const pooling = keys?.pooling_type;
  if (POOLINGS.has(pooling)) return pooling as number;
  throw new Error(
    `the file does not state the pooling of its vectors (${architecture}.pooling_type: mean, cls or last)`,
  );
}
