interface Field {
  readonly path: string;
  readonly reason: string;
}

const listOf = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);
const names = (value: unknown): string => listOf<unknown>(value).map(String).join(', ');

/** Returns the reason as a separate sentence, or an empty text when the message already contains it. */
function reasonText(reason: unknown, message: string): string {
  return typeof reason !== 'string' || message.includes(reason) ? '' : ` ${reason}`;
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
