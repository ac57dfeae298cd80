import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json } from '../output.ts';

/** A model may load for minutes. */
const CALL_OPTIONS = { timeoutMs: 600_000 };

interface Embeddings {
  data: { index: number; embedding: number[] }[];
}

/** One text for each argument; `-`, or none at all, means the lines that are piped in. */
async function textsOf({ readPiped }: CommandContext, args: readonly string[]): Promise<readonly string[]> {
  if (args.length > 0 && !(args.length === 1 && args[0] === '-')) return args;
  const lines = ((await readPiped()) ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length > 0) return lines;
  throw new CliError('the text is missing: svcctl embed "one text" "another"', EXIT.usage);
}

export async function embed(context: CommandContext, ...texts: string[]): Promise<number> {
  const { client, flags, out } = context;
  const input = await textsOf(context, texts);
  const body = { model: flags.model ?? 'embed', input, encoding_format: 'float' };
  const answer = await client.call<Embeddings>('v1.embeddings', body, CALL_OPTIONS);
  if (flags.json) out(json(answer));
  else for (const { embedding } of answer.data) out(`${JSON.stringify(embedding)}\n`);
  return EXIT.ok;
}
