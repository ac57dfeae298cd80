import type { ZodError } from 'zod';
import {
  CLIENT_EVENTS,
  type ClientEvent,
  type ClientEventType,
  type RealtimeError,
} from '../../contract/realtime.ts';
import { zodMessage } from '../../contract/zod-message.ts';
import { ByteScanner } from '../../lib/json/byte-scanner.ts';
import { withCurrentNames } from './beta-names.ts';

export type ReadResult =
  | { readonly ok: true; readonly event: ClientEvent }
  | { readonly ok: false; readonly error: RealtimeError };

/** Creates an error that the caller caused. */
export const clientError = (
  code: string,
  message: string,
  more: { param?: string | null; event_id?: string | null } = {},
): RealtimeError => ({
  type: 'invalid_request_error',
  code,
  message,
  param: more.param ?? null,
  event_id: more.event_id ?? null,
});

const KNOWN = Object.keys(CLIENT_EVENTS).join(', ');
const refused = (...error: Parameters<typeof clientError>): ReadResult => ({
  ok: false,
  error: clientError(...error),
});

/**
 * Parses one message of a caller. Never throws: a fault becomes an error event, and the session continues.
 */
export function readClientEvent(bytes: Buffer): ReadResult {
  const value = parsed(bytes);
  if (value === undefined) return refused('invalid_json', 'The message is not valid JSON.');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused('invalid_type', 'The message must be a JSON object.');
  const { type, event_id } = value as { type?: unknown; event_id?: unknown };
  const from = { event_id: typeof event_id === 'string' ? event_id.slice(0, 512) : null };
  if (type === undefined)
    return refused('missing_required_parameter', "Missing required parameter: 'type'.", {
      ...from,
      param: 'type',
    });
  if (typeof type !== 'string' || !Object.hasOwn(CLIENT_EVENTS, type))
    return refused('invalid_value', `Unknown event type. Supported types: ${KNOWN}.`, {
      ...from,
      param: 'type',
    });
  const current = withCurrentSettings(value);
  const result = CLIENT_EVENTS[type as ClientEventType].safeParse(current);
  if (result.success) return { ok: true, event: result.data };
  return { ok: false, error: { ...firstIssue(result.error, current), ...from } };
}

/** Returns the event with the settings in it under their current names. */
function withCurrentSettings(event: object): object {
  const { session, response } = event as { session?: unknown; response?: unknown };
  if (session !== undefined) return { ...event, session: withCurrentNames(session) };
  return response === undefined ? event : { ...event, response: withCurrentNames(response) };
}

function parsed(bytes: Buffer): unknown {
  try {
    const scanner = new ByteScanner(bytes);
    scanner.value();
    scanner.end();
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the first fault by its path, without the caller's value. */
function firstIssue(error: ZodError, value: unknown): RealtimeError {
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const param = path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );
  const at = path.reduce<unknown>(
    (node, part) => (node as Record<PropertyKey, unknown> | undefined)?.[part],
    value,
  );
  if (at === undefined)
    return clientError('missing_required_parameter', `Missing required parameter: '${param}'.`, { param });
  const code = issue?.code === 'invalid_type' ? 'invalid_type' : 'invalid_value';
  return clientError(code, `Invalid '${param}': ${issue ? zodMessage(issue) : 'wrong value'}.`, { param });
}
