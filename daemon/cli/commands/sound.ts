import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { bytesOf, NewFile } from '../new-file.ts';
import { json, plain } from '../output.ts';
import { fileForm } from '../upload.ts';

/** Loading a voice may take minutes before the first byte, and transcribing an hour of audio takes long. */
const CALL_OPTIONS = { timeoutMs: 600_000 };

/** Hours of the least compressed sound. */
const MAX_AUDIO_BYTES = 4 * 1024 ** 3;
const MAX_TRANSCRIPT_BYTES = 64 * 1024 * 1024;

/** Returns the text to speak: the arguments, or standard input for `-` or without arguments. */
async function textOf({ readPiped }: CommandContext, args: readonly string[]): Promise<string> {
  const words = args.length === 1 && args[0] === '-' ? '' : args.join(' ').trim();
  const text = words || ((await readPiped())?.trim() ?? '');
  if (text === '') throw new CliError('the text is missing: svcctl speak "Hello" -o hello.mp3', EXIT.usage);
  return text;
}

/** Returns the audio format for a file extension, or undefined to let the slot decide. */
function formatOf(path: string | undefined): string | undefined {
  const ending = /\.(mp3|opus|aac|flac|wav|pcm)$/i.exec(path ?? '')?.[1];
  return ending?.toLowerCase();
}

export async function speak(context: CommandContext, ...texts: string[]): Promise<number> {
  const { client, flags, out, outBytes } = context;
  const { output, voice } = flags;
  if (output === undefined && (outBytes === null || flags.json))
    throw new CliError('name the file with -o FILE, or pipe the output into a program', EXIT.usage);
  const input = await textOf(context, texts);
  return NewFile.use(output, flags.force === true, async (file) => {
    const response_format = flags.format ?? formatOf(output);
    const body = { model: flags.model ?? 'tts', input, voice, response_format };
    const answer = await client.open('v1.speech', body, CALL_OPTIONS);
    if (file === null) {
      for await (const chunk of bytesOf(answer)) await outBytes?.(chunk);
      return EXIT.ok;
    }
    const bytes = await file.fill(answer, MAX_AUDIO_BYTES);
    const type = answer.headers['content-type'] ?? null;
    out(flags.json ? json({ file: file.path, bytes, type }) : `${plain(file.path)}\n`);
    return EXIT.ok;
  });
}

export async function transcribe(context: CommandContext, path: string): Promise<number> {
  const { client, flags, out } = context;
  return NewFile.use(flags.output, flags.force === true, async (file) => {
    const fields = {
      model: flags.model ?? 'stt',
      response_format: flags.format ?? (flags.json ? 'json' : 'text'),
      ...(flags.language !== undefined && { language: flags.language }),
    };
    const upload = await fileForm(fields, path);
    const answer = await client.open('v1.transcriptions', undefined, { ...CALL_OPTIONS, upload });
    if (file === null) await print(answer, out);
    else await file.fill(answer, MAX_TRANSCRIPT_BYTES);
    return EXIT.ok;
  });
}

/** Prints a transcript while it is received, ending with a line break. */
async function print(answer: AsyncIterable<Buffer>, out: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let last = '';
  for await (const chunk of bytesOf(answer)) {
    const text = plain(decoder.decode(chunk, { stream: true }));
    out(text);
    last = text.at(-1) ?? last;
  }
  if (last !== '\n') out('\n');
}
