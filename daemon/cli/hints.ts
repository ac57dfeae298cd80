import { ERRORS, type ErrorCode } from '../contract/errors.ts';

interface Field {
  readonly path: string;
  readonly reason: string;
}

const listOf = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);
const names = (value: unknown): string => listOf<unknown>(value).map(String).join(', ');

/** Returns the reason as a separate sentence, or an empty text when the message already contains it. */
function reasonText(reason: unknown, message: string): string {
  if (typeof reason !== 'string') return '';
  // A message may continue its sentence with the reason.
  return message.toLowerCase().includes(reason.toLowerCase()) ? '' : ` ${reason}`;
}

/** Routes in the advice of the catalogue, and the commands that show the same. */
const COMMANDS: readonly (readonly [route: string, command: string])[] = [
  ['GET /api/slots', 'svcctl slots'],
  ['GET /api/upstreams', 'svcctl upstreams'],
  ['GET /api/pulls', 'svcctl models pulls'],
  ['GET /api/settings', 'svcctl config'],
  ['GET /api/requests', 'svcctl requests'],
  ['GET /v1/models', 'svcctl models'],
];
/** Matches advice for programs. It does not apply, because svcctl prints the details, waits and sends the key itself. */
const FOR_PROGRAMS = /\bdetails\b|Retry-After|Authorization|\bheader\b|openapi|log in|Nothing to do/;

/** Returns the advice of the error catalogue in terms of svcctl, or null when it is meant for programs. */
export function adviceFor(code: string): string | null {
  const advice = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].advice : null;
  if (advice === null || FOR_PROGRAMS.test(advice)) return null;
  const text = COMMANDS.reduce((shown, [route, command]) => shown.replace(route, command), advice);
  return text.includes('GET /') ? null : text;
}

/**
 * Returns what the details of an error add to its message: the delay, the reason, the slots involved,
 * suggestions, and the invalid fields.
 */
export function hintOf(message: string, details: Readonly<Record<string, unknown>> = {}): string {
  const { retry_after_s: wait, reason } = details;
  const [slots, near] = [names(details.slots), names(details.suggestions)];
  const fields = listOf<Field>(details.fields)
    .filter(({ reason: why }) => !message.includes(why))
    .map((each) => `${each.path} ${each.reason}`.trim());
  return [
    typeof wait === 'number' ? ` Try again in ${wait} s.` : '',
    reasonText(reason, message),
    slots === '' ? '' : ` Slots: ${slots}.`,
    near === '' ? '' : ` Did you mean ${near}?`,
    fields.length === 0 ? '' : ` ${fields.join('; ')}.`,
  ].join('');
}
