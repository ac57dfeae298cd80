type Json = Readonly<Record<string, unknown>>;

/** The fields of an error object that an event may carry next to its message. */
const ERROR_FIELDS = ['code', 'type', 'param', 'status'] as const;
/** Fields that contain the message of an error without an error object. */
const MESSAGE_FIELDS = ['message', 'detail', 'msg', 'error_msg', 'text'] as const;
/** Codes of success, which some servers add to every event. */
const SUCCESS_CODES: ReadonlySet<unknown> = new Set([0, 200, '0', '200', '', 'ok', 'success']);

/**
 * Returns the error object that an event of a streamed chat or completion reports; null for any other event.
 * Knows the forms of OpenAI, Anthropic, Google, OpenRouter, FastAPI, FastChat, LMDeploy, older vLLM versions
 * and Cloudflare. `name` is the name of the event.
 */
export function eventError(value: unknown, name: string): Json | null {
  const event = asObject(Array.isArray(value) && value.length === 1 ? value[0] : value);
  if (event === undefined) return name === 'error' ? { message: messageIn(value) } : null;
  const { error, errors, choices } = event;
  const object = asObject(error);
  if (object !== undefined) return object;
  if (typeof error === 'string' && error !== '') return { ...fieldsOf(event), message: error };
  if (error === true || (typeof error === 'number' && error !== 0))
    return { code: error === true ? undefined : error, ...fieldsOf(event), message: messageOf(event) };
  if (Array.isArray(choices)) return asObject(asObject(choices[0])?.error) ?? null;
  const first = Array.isArray(errors) ? errors[0] : undefined;
  if (first !== undefined) return asObject(first) ?? { message: messageIn(first) };
  return name === 'error' || isFlatError(event) ? { ...fieldsOf(event), message: messageOf(event) } : null;
}

/** Whether an event without choices is itself an error object. */
function isFlatError({ object, type, status, code, error_code, message, detail }: Json): boolean {
  if ([object, type, status].includes('error')) return true;
  if (isFailureCode(error_code)) return true;
  if (typeof detail === 'string' || Array.isArray(detail)) return true;
  return typeof message === 'string' && isFailureCode(code);
}

const isFailureCode = (code: unknown): boolean =>
  (typeof code === 'number' || typeof code === 'string') && !SUCCESS_CODES.has(code);

function fieldsOf(event: Json): Json {
  const fields = ERROR_FIELDS.flatMap((field) => {
    const value = event[field];
    return value === undefined || value === null || value === 'error' ? [] : [[field, value]];
  });
  return Object.fromEntries(fields);
}

function messageOf(event: Json): string | undefined {
  for (const field of MESSAGE_FIELDS) {
    const text = messageIn(event[field]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** FastAPI reports validation errors as a list of objects with `msg`. */
function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  const first = asObject(Array.isArray(value) ? value[0] : undefined);
  return typeof first?.msg === 'string' ? first.msg : undefined;
}

const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
