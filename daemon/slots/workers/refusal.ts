export interface RefusalOptions {
  status?: number;
  /** The invalid request field. */
  param?: string;
  /** Additional fields of the error object. */
  extra?: Readonly<Record<string, string | number>>;
}

/** A request that the engine cannot serve, with the status and the OpenAI error object. */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly param: string | null;
  readonly extra: Readonly<Record<string, string | number>>;

  constructor(code: string, message: string, options: RefusalOptions = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.status = options.status ?? 400;
    this.param = options.param ?? null;
    this.extra = options.extra ?? {};
  }

  /** Returns OpenAI's error envelope. `code` is always a string. */
  envelope(): { error: Record<string, unknown> } {
    return {
      error: {
        code: this.code,
        message: this.message,
        type: errorType(this.status),
        param: this.param,
        ...(this.code === 'request.invalid' ? { details: { fields: [this.#field()] } } : {}),
        ...this.extra,
      },
    };
  }

  #field(): { path: string; reason: string } {
    const path = this.param ?? '';
    const reason = this.message.startsWith(`${path}: `) ? this.message.slice(path.length + 2) : this.message;
    return { path, reason };
  }
}

/**
 * Returns the refusal of a field that is missing, has the wrong type, is out of range or unsupported: 422
 * (docs/spec/contract.md#invalid-status).
 */
export function invalidField(param: string, message: string): Refusal {
  return new Refusal('request.invalid', message, { param, status: 422 });
}

/**
 * Returns the refusal of valid content that the model cannot read or the engine cannot enforce: 400, the status on
 * which agents remove it and go on (docs/spec/contract.md#unreadable-media, docs/spec/contract.md#json-schema-strict).
 */
export function unsupportedContent(param: string, message: string): Refusal {
  return new Refusal('request.invalid', message, { param, status: 400 });
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Returns refusals unchanged. Wraps any other error as an engine failure with its own message. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Refusal('engine.failed', `The engine failed: ${reason}`.slice(0, 500), { status: 500 });
}
