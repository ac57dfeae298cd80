import type { PullRecord } from '../../contract/pulls.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { duration } from '../format.ts';
import { adviceFor } from '../hints.ts';
import { json, plain } from '../output.ts';
import { waitForPull } from '../pull-progress.ts';
import { fitted } from '../table.ts';

/** The hub may be slow to list a repository. */
const TIMEOUT_MS = 120_000;

export async function pull(context: CommandContext, model: string): Promise<number> {
  const { client, flags } = context;
  const body = {
    model,
    ...(flags.revision === undefined ? {} : { revision: flags.revision }),
    ...(flags.projector ? { projector: true } : {}),
    ...(flags.allowUnsupported ? { allow_unsupported: true } : {}),
  };
  const started = await client.call<PullRecord>('model.pull', body, { timeoutMs: TIMEOUT_MS });
  return waitAndPrint(context, started);
}

/**
 * Waits for a download and prints the result, or prints it immediately with `--no-wait`. Fails if the awaited
 * download did not complete.
 */
async function waitAndPrint(context: CommandContext, started: PullRecord): Promise<number> {
  if (context.flags.wait === false) return printRecord(context, started);
  const record = await waitForPull(context, started);
  const code = printRecord(context, record);
  return record.state === 'done' ? code : EXIT.failed;
}

/** Prints the state of a download. */
function printRecord({ flags, out }: CommandContext, record: PullRecord): number {
  const { state, error, file, model, id } = record;
  if (flags.json) out(json(record));
  else if (state === 'done') out(`Downloaded ${plain(model ?? file)}.\n`);
  else out(`Download ${id} is ${state}: ${plain(record.repo)}, ${plain(file)}.\n`);
  if (error === null) return EXIT.ok;
  throw new CliError(error.message, EXIT.failed, error.code, adviceFor(error.code));
}

export async function list({ client, flags, out, width }: CommandContext): Promise<number> {
  const view = await client.call<{ pulls: PullRecord[] }>('pulls');
  if (flags.json) out(json(view));
  else if (view.pulls.length === 0) out('There are no downloads yet.\n');
  else out(pullTable(view.pulls, width));
  return EXIT.ok;
}

function pullTable(pulls: readonly PullRecord[], width: number): string {
  const rows = pulls.map((one) => [
    one.id,
    one.state,
    `${one.total === 0 ? 0 : Math.floor((one.bytes / one.total) * 100)} %`,
    formatBytes(one.total),
    one.eta_s === null ? '-' : duration(one.eta_s * 1000),
    `${one.repo}:${one.file}`,
    one.error?.message ?? '',
  ]);
  return fitted(['ID', 'STATE', 'DONE', 'SIZE', 'LEFT', 'MODEL', 'REASON'], rows, {
    width,
    shrink: [6],
    shrinkLast: [5],
  });
}

/** Returns the only download with this id prefix. */
async function idOf({ client }: CommandContext, start: string): Promise<string> {
  const { pulls } = await client.call<{ pulls: PullRecord[] }>('pulls');
  const found = pulls.filter(({ id }) => id.startsWith(start));
  if (found.length === 1) return (found[0] as PullRecord).id;
  const reason = found.length === 0 ? 'no download has' : 'several downloads have';
  throw new CliError(`${reason} an id with this prefix. See svcctl models pulls.`, EXIT.failed);
}

async function runAction(
  context: CommandContext,
  route: 'pull.pause' | 'pull.resume' | 'pull.cancel',
  id: string,
): Promise<PullRecord> {
  const params = { id: await idOf(context, id) };
  return context.client.call<PullRecord>(route, undefined, { params });
}

export const pause = async (context: CommandContext, id: string): Promise<number> =>
  printRecord(context, await runAction(context, 'pull.pause', id));
export const cancel = async (context: CommandContext, id: string): Promise<number> =>
  printRecord(context, await runAction(context, 'pull.cancel', id));
export const resume = async (context: CommandContext, id: string): Promise<number> =>
  waitAndPrint(context, await runAction(context, 'pull.resume', id));
