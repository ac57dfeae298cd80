import { type Conversation, FRESH, type Turn, turn } from './conversation.ts';

const KEY = 'svc.playground';
/** Most characters that are kept over a reload; browsers give about five million per address. */
const MOST = 1_000_000;

const withoutPictures = (row: Turn): Turn => ({
  ...row,
  pictures: [],
  picturesGone: row.picturesGone + row.pictures.length,
});

/** The conversation as text, without its pictures, and without its oldest turns when it is too long. */
export function pack(whole: Conversation): string {
  const conversation = { ...whole, pictures: [], turns: whole.turns.map(withoutPictures) };
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
    const turns = read.turns.map((row): Turn => {
      const whole = { ...turn(row.id, row.role, row.model), ...row };
      return row.state === 'streaming' ? { ...whole, state: 'cut' } : whole;
    });
    return { ...FRESH, ...read, turns, parameters: { ...FRESH.parameters, ...read.parameters } };
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
