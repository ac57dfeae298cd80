import type { ImagesResponse } from '../../contract/images.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { NewFile } from '../new-file.ts';
import { json } from '../output.ts';

/** Longer than the gateway itself waits for an engine. */
const CALL_OPTIONS = { timeoutMs: 660_000 };
const CACHED_URL = /^\/api\/images\/cache\/([0-9a-f-]{36})\.png$/;

/** Maximum size of an image file in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

async function fetchInto({ client }: CommandContext, uuid: string, file: NewFile | null): Promise<void> {
  await file?.fill(await client.open('images.cache', undefined, { params: { uuid } }), MAX_BYTES);
}

export async function image(context: CommandContext, ...texts: string[]): Promise<number> {
  const { client, flags, out } = context;
  const prompt = texts.join(' ').trim() || ((await context.readPiped())?.trim() ?? '');
  if (prompt === '')
    throw new CliError('the prompt is missing: svcctl image "a lighthouse at dusk"', EXIT.usage);
  // Created first, so that minutes of work do not fail at an existing file.
  return NewFile.use(flags.output, flags.force === true, async (file) => {
    const body = { model: flags.model ?? 'img', prompt, size: flags.size };
    const made = await client.call<ImagesResponse>('v1.images', body, CALL_OPTIONS);
    const [first] = made.data;
    const uuid = first !== undefined && 'url' in first ? CACHED_URL.exec(first.url)?.[1] : undefined;
    if (uuid === undefined) throw new CliError('the response contains no image');
    const path = file?.path ?? `${uuid}.png`;
    if (file !== null) await fetchInto(context, uuid, file);
    else await NewFile.use(path, flags.force === true, (own) => fetchInto(context, uuid, own));
    out(flags.json ? json(made) : `${path}\n`);
    return EXIT.ok;
  });
}
