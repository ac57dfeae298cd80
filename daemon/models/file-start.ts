import { open } from 'node:fs/promises';

/** Bytes that identify a file. */
const HEAD_BYTES = 256;

/** What a file is that should be a model, by its first bytes. The first match counts. */
const STARTS: readonly (readonly [RegExp, string])[] = [
  [/^version https:\/\/git-lfs\.github\.com\/spec/, 'it is a pointer of Git LFS, not the model'],
  [/^\uFEFF?\s*<(!doctype html|html[\s>]|\?xml|head[\s>])/i, 'it is a web page, not a model'],
  [/^PK\u0003\u0004/, 'it is a ZIP archive: unpack it'],
  [/^\u001f\u008b/, 'it is a gzip archive: unpack it'],
  [/^lmgg|^tjgg|^fmgg/, 'it is in the old GGML format, which llama.cpp no longer reads'],
  [/^\s*\{\s*"(error|message|detail)"/, 'it is an error message of a server, not a model'],
];

/** Returns what a file is instead of a model, by its first bytes. Null when unknown or not readable. */
export async function describeStart(path: string): Promise<string | null> {
  const handle = await open(path, 'r').catch(() => null);
  if (handle === null) return null;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead === 0) return 'it is empty';
    const text = buffer.toString('latin1', 0, bytesRead);
    return STARTS.find(([pattern]) => pattern.test(text))?.[1] ?? null;
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}
