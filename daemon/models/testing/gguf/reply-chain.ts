/**
 * Splits `reply` into pieces that differ from each other and from `reserved`, so that each piece can have
 * exactly one successor. A piece is one word with its preceding space. A repeated word is merged with its
 * neighbours.
 */
export function replyPieces(reply: string, reserved: ReadonlySet<string>): string[] {
  const words = reply.split(/(?=\s)/).filter((word) => word !== '');
  const pieces: string[] = [];
  const used = (piece: string) => reserved.has(piece) || pieces.includes(piece);
  let piece = '';
  for (const word of words) {
    piece += word;
    if (used(piece)) continue;
    pieces.push(piece);
    piece = '';
  }
  while (piece !== '') {
    const previous = pieces.pop();
    if (previous === undefined)
      throw new Error('the reply is a single piece that the vocabulary has already');
    piece = previous + piece;
    if (used(piece)) continue;
    pieces.push(piece);
    piece = '';
  }
  return pieces;
}
