import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPiperVoice } from './piper-voice.ts';
import { speechLayout } from './speech-metadata.ts';

/**
 * Returns the path of the speech model that a path means: the folder of an ONNX file that is one part of a
 * model, or the only Piper voice in a folder. Any other path is returned unchanged.
 */
export async function speechPathAt(path: string): Promise<string> {
  if (/\.onnx$/i.test(path)) return (await speechLayout(dirname(path))) === null ? path : dirname(path);
  const names = await readdir(path).catch(() => null);
  if (names === null || (await speechLayout(path)) !== null) return path;
  const voices = names.filter((name) => isPiperVoice(name, new Set(names)));
  return voices.length === 1 ? join(path, voices[0] as string) : path;
}
