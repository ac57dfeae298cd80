/** Ray Serve LLM writes the message of vLLM between its own words and the name of its exception class. */
const WRAPPED = /^Message: (?<message>.+?) \(Request ID: [^()]{1,200}\), Internal exception: /s;

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

/**
 * Returns an error body of Ray Serve LLM with the message of its engine alone, and any other value unchanged. The rest of
 * the message names classes of Ray and repeats the request id.
 */
export function unwrapRayError(body: unknown): unknown {
  const root = asObject(body);
  const error = asObject(root?.error);
  const message =
    typeof error?.message === 'string' ? WRAPPED.exec(error.message)?.groups?.message : undefined;
  return message === undefined ? body : { ...root, error: { ...error, message } };
}

/** The end of a message of vLLM that names the field: `(parameter=max_tokens, value=4000)`. */
const PARAMETER = /\(parameter=(?<name>\w{1,64}), value=/;
/** Measures of the prompt, which are no fields of a request. */
const MEASURES: ReadonlySet<string> = new Set(['input_tokens', 'input_text']);

/** Returns the field of the request that a message of vLLM names at its end; undefined when it names none. */
export function parameterIn(message: string): string | undefined {
  const name = PARAMETER.exec(message)?.groups?.name;
  return name === undefined || MEASURES.has(name) ? undefined : name;
}
