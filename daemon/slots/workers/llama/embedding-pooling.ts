/** Values of `pooling_type` that make one vector of a text: mean, first token, last token. */
const POOLINGS: ReadonlySet<unknown> = new Set([1, 2, 3]);

/** What is read of a GGUF header. */
export interface PoolingHeader {
  general?: { architecture?: string };
}

/**
 * How the file says that the vectors of its tokens become one. Throws an Error for a file that does not say: a guess would
 * give vectors that look right and are not.
 */
export function poolingOf(header: PoolingHeader): number {
  const architecture = header.general?.architecture ?? '';
  const keys = (header as Record<string, { pooling_type?: unknown } | undefined>)[architecture];
  const pooling = keys?.pooling_type;
  if (POOLINGS.has(pooling)) return pooling as number;
  throw new Error(
    `the file does not say how its vectors are pooled (${architecture}.pooling_type: mean, cls or last)`,
  );
}
