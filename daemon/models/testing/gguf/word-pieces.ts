const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const SINGLE = `${LETTERS}0123456789.,;:!?'"()[]{}<>/\\|@#$%^&*-_=+\`~`;
const NORMAL = 1;
const CONTROL = 3;

export interface WordPieces {
  tokens: string[];
  types: number[];
}

/** Ids of the special pieces in {@link wordPieces}. */
export const SPECIAL_PIECE = { pad: 0, unknown: 1, cls: 2, sep: 3, mask: 4 } as const;

/**
 * Builds a WordPiece vocabulary of single characters and letter pairs in GGUF spelling: U+2581 starts a word,
 * no `##`.
 */
export function wordPieces(): WordPieces {
  const pieces = [...SINGLE, ...[...LETTERS].flatMap((a) => [...LETTERS].map((b) => a + b))];
  const tokens = [
    '[PAD]',
    '[UNK]',
    '[CLS]',
    '[SEP]',
    '[MASK]',
    ...pieces.map((p) => `\u2581${p}`),
    ...pieces,
  ];
  const types = tokens.map((_, id) =>
    id === SPECIAL_PIECE.unknown ? 2 : id <= SPECIAL_PIECE.mask ? CONTROL : NORMAL,
  );
  return { tokens, types };
}
