type Json = Readonly<Record<string, unknown>>;

/** Finish reasons of an engine that did not finish (vLLM on SIGTERM, SGLang, OpenRouter, Zhipu, DeepSeek). */
export const ABORTED = ['abort', 'error', 'network_error', 'insufficient_system_resource'] as const;
/** Finish reasons that an API defines. */
const DEFINED = ['stop', 'length', 'tool_calls', 'function_call', 'content_filter'] as const;

const ABORTED_SET: ReadonlySet<unknown> = new Set(ABORTED);
const KNOWN_SET: ReadonlySet<unknown> = new Set([...DEFINED, ...ABORTED, null, undefined]);
const FINISH = '"finish_reason"\\s*:\\s*';
const ABORTED_TEXT = new RegExp(`${FINISH}"(?:${ABORTED.join('|')})"`);
const UNKNOWN_TEXT = new RegExp(`${FINISH}"(?!(?:${DEFINED.join('|')})")[^"\\\\]{1,64}"`);
const ERROR_OBJECT = /"error"\s*:\s*\{/;
/** Characters of a chunk that are kept to find a finish reason that is split across two chunks. */
const TAIL_BYTES = 64;
const NEWLINE = 0x0a;
const BRACE = 0x7d;

const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

function finishReasons(value: unknown): unknown[] {
  const choices = asObject(value)?.choices;
  return Array.isArray(choices) ? choices.map((choice) => asObject(choice)?.finish_reason) : [];
}

/** Returns whether a chunk, or a complete answer, ends because the engine gave up. */
export const isAborted = (value: unknown): boolean =>
  finishReasons(value).some((reason) => ABORTED_SET.has(reason));

/** Returns whether a chunk ends for a reason that no API defines. Next to an error the answer is not complete. */
export const hasUnknownFinish = (value: unknown): boolean =>
  finishReasons(value).some((reason) => !KNOWN_SET.has(reason));

/**
 * Finds the end of an answer that the engine did not complete (docs/spec/contract.md#finish-reason-error) in
 * its bytes, chunk by chunk. Inside a model's text the quotes would be escaped.
 */
export class IncompleteAnswerScan {
  /** The end of the last chunk if that ended inside an event. */
  #before = '';

  /** Returns how many bytes of the chunk precede the failed event; null when the chunk contains none. */
  cutAt(chunk: Buffer): number | null {
    const before = this.#before;
    this.#before = endsInside(chunk) ? chunk.toString('latin1', Math.max(0, chunk.length - TAIL_BYTES)) : '';
    if (before === '' && !ABORTED.some((reason) => chunk.includes(reason))) return null;
    const text = before + chunk.toString('latin1');
    const at = incompleteAt(text);
    if (at < 0) return null;
    return Math.max(0, text.lastIndexOf('data:', at) - before.length);
  }
}

/** Returns where the finish reason of an incomplete answer begins; -1 when there is none. */
function incompleteAt(text: string): number {
  const at = text.search(ABORTED_TEXT);
  return at >= 0 || !ERROR_OBJECT.test(text) ? at : text.search(UNKNOWN_TEXT);
}

function endsInside(chunk: Buffer): boolean {
  const last = chunk[chunk.length - 1];
  return last !== undefined && last !== NEWLINE && last !== BRACE;
}
