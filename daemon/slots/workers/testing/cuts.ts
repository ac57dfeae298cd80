/** Yields splits of `text`: whole, one character each, and one split at every position. */
export function* cuts(text: string): Generator<string[]> {
  yield [text];
  yield [...text];
  const bytes = Buffer.from(text);
  for (let at = 1; at < bytes.length; at++) {
    const decoder = new TextDecoder();
    const first = decoder.decode(bytes.subarray(0, at), { stream: true });
    yield [first, decoder.decode(bytes.subarray(at))].filter((piece) => piece !== '');
  }
}
