/** A finish reason with which an engine stops before its answer is complete, for example vLLM on SIGTERM. */
const ABORTED = /"finish_reason"\s*:\s*"(?:abort|error)"/;
/** A finish reason that no API defines. It means a failure only next to an error object. */
const UNKNOWN =
  /"finish_reason"\s*:\s*"(?!(?:stop|length|tool_calls|function_call|content_filter)")[^"\\]{1,64}"/;
const ERROR_OBJECT = /"error"\s*:\s*\{/;
/** Characters of a chunk that are kept to find a finish reason that is split across two chunks. */
const TAIL_BYTES = 64;
const NEWLINE = 0x0a;
const BRACE = 0x7d;

/**
 * Finds the end of an answer that the engine did not complete, chunk by chunk. Inside a model's text the
 * quotes would be escaped.
 */
export class AbortScan {
  /** The end of the last chunk if that ended inside an event. */
  #before = '';

  /** Returns how many bytes of the chunk precede the failed event; null when the chunk contains none. */
  cutAt(chunk: Buffer): number | null {
    const before = this.#before;
    this.#before = endsInside(chunk) ? chunk.toString('latin1', Math.max(0, chunk.length - TAIL_BYTES)) : '';
    if (before === '' && !chunk.includes('abort') && !chunk.includes('error')) return null;
    const text = before + chunk.toString('latin1');
    const at = abortedAt(text);
    if (at < 0) return null;
    return Math.max(0, text.lastIndexOf('data:', at) - before.length);
  }
}

/** Returns where the finish reason of an incomplete answer begins; -1 when there is none. */
function abortedAt(text: string): number {
  const at = text.search(ABORTED);
  return at >= 0 || !ERROR_OBJECT.test(text) ? at : text.search(UNKNOWN);
}

function endsInside(chunk: Buffer): boolean {
  const last = chunk[chunk.length - 1];
  return last !== undefined && last !== NEWLINE && last !== BRACE;
}
