import { catalogCodeOf, ERRORS, isErrorCode } from '../../contract/errors.ts';

/** A failure that the caller has been told in the engine's own words. */
export class InBandError {
  /** The engine's code where it is a word, else `upstream.error`. */
  readonly code: string;
  /** What it says as a status; null when it says nothing of the kind. */
  readonly status: number | null;

  constructor(code: string, status: number | null) {
    this.code = code;
    this.status = status;
  }
}

type Json = Readonly<Record<string, unknown>>;

/** A code is one word; what holds spaces or control characters is some other text. */
const WORD = /^[\x21-\x7e]+$/;

/** Types of OpenAI's and Anthropic's errors that leave no doubt whose fault it is. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['rate_limit_error', 429],
  ['server_error', 500],
  ['api_error', 500],
  ['overloaded_error', 503],
]);

/** The failure in an error body that passes as it is. */
export function errorInBody(body: unknown, status: number): InBandError {
  const code = asObject(asObject(body)?.error)?.code;
  return new InBandError(typeof code === 'string' && WORD.test(code) ? code : 'upstream.error', status);
}

/** The failure that the last events of a stream tell; null when they tell none. */
export function errorInEvents(end: Buffer): InBandError | null {
  if (!end.includes('"error"')) return null;
  for (const line of end
    .toString('utf8')
    .split(/[\r\n]+/)
    .reverse()) {
    const error = line.startsWith('data:') ? errorIn(line.slice('data:'.length)) : null;
    if (error !== null) return new InBandError(catalogCodeOf(error.code), statusOf(error));
  }
  return null;
}

/** What an error object says as a status, by its code or its type; null when it says nothing of the kind. */
export function statusOf({ code, status, type }: Json): number | null {
  const said = [code, status].map(Number).find((each) => Number.isInteger(each) && each >= 400 && each < 600);
  if (said !== undefined) return said;
  if (isErrorCode(code)) return ERRORS[code].status;
  return STATUSES.get(type) ?? null;
}

function errorIn(data: string): Json | null {
  if (!data.includes('"error"')) return null;
  try {
    const error = asObject(JSON.parse(data))?.error;
    return asObject(error) ?? (typeof error === 'string' && error !== '' ? { message: error } : null);
  } catch {
    return null;
  }
}

const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
