/** A message of a chat, as far as its position matters. */
interface Turn {
  readonly role?: unknown;
  readonly content?: unknown;
}

const isSystem = ({ role }: Turn): boolean => role === 'system' || role === 'developer';

/**
 * Turns system messages after the first turn into reminders of the user, for templates that take a system
 * message at the start only. Merges each reminder with the adjacent user message, because templates require
 * alternating roles. Returns a list of the same length: null where a message was merged into an earlier one,
 * the same object where nothing changed.
 */
export function withReminders<T extends Turn>(messages: readonly (T | null)[]): (T | null)[] {
  const out = [...messages];
  let last = -1;
  let lastIsReminder = false;
  let isLater = false;
  for (const [at, message] of messages.entries()) {
    if (message === null) continue;
    const isReminder = isLater && isSystem(message);
    isLater ||= !isSystem(message);
    const made = isReminder ? { ...message, role: 'user', content: reminder(message.content) } : message;
    const before = last < 0 ? null : out[last];
    const merges = before?.role === 'user' && made.role === 'user' && (isReminder || lastIsReminder);
    if (merges) out[last] = { ...before, content: joined(before.content, made.content) };
    out[at] = merges ? null : made;
    if (!merges) last = at;
    lastIsReminder = isReminder;
  }
  return out;
}

const reminder = (content: unknown): string => `<system-reminder>\n${textOf(content)}\n</system-reminder>`;

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : partsOf(content)
        .map((part) => String((part as { text?: unknown } | null)?.text ?? ''))
        .join('\n');

function joined(before: unknown, more: unknown): unknown {
  if (typeof before === 'string' && typeof more === 'string') return `${before}\n\n${more}`;
  return [...partsOf(before), ...partsOf(more)];
}

function partsOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}
