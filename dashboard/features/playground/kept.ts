import { type Conversation, FRESH, type Turn } from './conversation.ts';

const KEY = 'svc.playground';
/** Most characters that are kept over a reload; browsers give about five million per address. */
const MOST = 1_000_000;

/** The conversation as text, without its oldest turns when it is too long. */
export function pack(conversation: Conversation): string {
  for (let from = 0; ; from += 2) {
    const text = JSON.stringify({ ...conversation, turns: conversation.turns.slice(from) });
    if (text.length <= MOST || from >= conversation.turns.length) return text;
  }
}

/** The conversation from its text; an answer that was under way when the page went is marked as cut. */
export function unpack(text: string | null): Conversation {
  if (text === null) return FRESH;
  try {
    const read = JSON.parse(text) as Conversation;
    if (!Array.isArray(read.turns) || typeof read.draft !== 'string') return FRESH;
    const turns = read.turns.map((row): Turn => (row.state === 'streaming' ? { ...row, state: 'cut' } : row));
    return { ...FRESH, ...read, turns };
  } catch {
    return FRESH;
  }
}

/** What was kept in this tab. */
export function load(): Conversation {
  try {
    return unpack(sessionStorage.getItem(KEY));
  } catch {
    return FRESH;
  }
}

/** Keeps the conversation in this tab until it is closed; without storage it lasts until a reload. */
export function keep(conversation: Conversation): void {
  try {
    sessionStorage.setItem(KEY, pack(conversation));
  } catch {
    // Storage is off or full: the conversation on the screen is not touched.
  }
}
