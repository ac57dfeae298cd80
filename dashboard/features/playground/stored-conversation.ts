import { type Conversation, FRESH, type Turn, turn } from './conversation.ts';

const KEY = 'svc.playground';
/** Maximum stored characters; browsers allow about five million per origin. */
const MAX_CHARS = 1_000_000;

const withoutImages = (row: Turn): Turn => ({
  ...row,
  images: [],
  removedImages: row.removedImages + row.images.length,
});

/** Serialises the conversation. Omits images, and the oldest turns when the text is too long. */
export function pack(whole: Conversation): string {
  const conversation = { ...whole, images: [], turns: whole.turns.map(withoutImages) };
  for (let from = 0; ; from += 2) {
    const text = JSON.stringify({ ...conversation, turns: conversation.turns.slice(from) });
    if (text.length <= MAX_CHARS || from >= conversation.turns.length) return text;
  }
}

/** Parses a stored conversation. An answer that was streaming when the page closed is marked as cut. */
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

/** Loads the conversation of this tab. */
export function load(): Conversation {
  try {
    return unpack(sessionStorage.getItem(KEY));
  } catch {
    return FRESH;
  }
}

/** Stores the conversation until the tab is closed. Without storage it lasts until a reload. */
export function store(conversation: Conversation): void {
  try {
    sessionStorage.setItem(KEY, pack(conversation));
  } catch {
    // Storage is disabled or full: the conversation on the screen stays.
  }
}
