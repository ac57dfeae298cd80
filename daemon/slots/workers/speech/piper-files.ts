import { createReadStream } from 'node:fs';
import { Spool } from '../../../lib/fs/spool.ts';
import { encodeMetadata } from '../../../models/onnx/metadata.ts';
import { piperVoiceOf } from '../../../models/piper-voice.ts';
import { type SpeechMetadata, voiceSettings } from '../../../models/speech-metadata.ts';
import { spoolFolder } from '../spool-folder.ts';

/** Bytes per write of the copy. */
const CHUNK_BYTES = 4 << 20;

/** Returns the path under which this process opens an unnamed file. */
const pathOf = ({ descriptor }: Spool): string => `/proc/self/fd/${descriptor}`;

/** Writes the voice with the metadata that the native library reads. It accepts a path only. */
async function writeModel(
  path: string,
  metadata: Readonly<Record<string, string>>,
  to: Spool,
): Promise<void> {
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }))
    await to.write([chunk as Buffer]);
  await to.write([encodeMetadata(metadata)]);
}

/**
 * Runs `load` with the files of a voice in the form of the native library. Those of a voice as Piper publishes
 * it are made from its settings, in unnamed files that end with the load. Rejects with a one-line Error.
 */
export async function withVoiceFiles<T>(
  found: SpeechMetadata,
  load: (files: SpeechMetadata) => Promise<T>,
  folder = spoolFolder(),
): Promise<T> {
  const { model } = found.files;
  if (!found.isPiper || model === undefined) return load(found);
  const voice = piperVoiceOf(await voiceSettings(model));
  if ('reason' in voice) throw new Error(`the settings of the voice have changed: ${voice.reason}`);
  const spools: Spool[] = [];
  const open = async () => {
    const spool = await Spool.open(folder);
    spools.push(spool);
    return spool;
  };
  try {
    const [file, tokens] = [await open(), await open()];
    await writeModel(model, voice.metadata, file);
    await tokens.write([Buffer.from(voice.tokens)]);
    return await load({ ...found, files: { ...found.files, model: pathOf(file), tokens: pathOf(tokens) } });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(`the voice could not be prepared in the state folder (${code})`, { cause: error });
  } finally {
    for (const spool of spools) await spool.close();
  }
}
