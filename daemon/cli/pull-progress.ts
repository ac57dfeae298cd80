import { setTimeout as pause } from 'node:timers/promises';
import type { PullRecord } from '../contract/pulls.ts';
import { formatBytes } from '../lib/text/bytes-text.ts';
import type { CommandContext } from './command.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { duration } from './format.ts';
import { plain } from './output.ts';
import { bar } from './progress.ts';
import { sseEvents } from './sse-reader.ts';
import { truncate } from './table.ts';

/** Allows for a restart of the gateway, which resumes the download. */
const MAX_FAILURES = 30;
const RETRY_MS = 2_000;
/** Keep-alive comments arrive every 15 seconds. */
const IDLE_TIMEOUT_MS = 60_000;

const isOver = ({ state }: PullRecord): boolean => ['done', 'failed', 'cancelled', 'paused'].includes(state);

/** The progress of a download, in one line. */
export function pullLine(record: PullRecord, width: number): string {
  const { state, bytes: there, total, speed, eta_s, retries, retry_reason, file } = record;
  const parts = [
    plain(file),
    state === 'running' ? bar(total === 0 ? null : there / total) : state,
    `${formatBytes(there)} of ${formatBytes(total)}`,
    speed === null ? '' : `${formatBytes(speed)}/s`,
    eta_s === null ? '' : `${duration(eta_s * 1000)} left`,
    retries > 0 ? `try ${retries + 1}${retry_reason === null ? '' : `: ${plain(retry_reason)}`}` : '',
  ];
  return truncate(parts.filter((part) => part !== '').join('  '), width);
}

/** Follows the events of one download until it is over or the stream breaks. Returns the last known state. */
async function followOnce(
  { client, status, statusWidth }: CommandContext,
  first: PullRecord,
): Promise<PullRecord> {
  const stream = await client.open('events', undefined, { timeoutMs: IDLE_TIMEOUT_MS });
  try {
    // The list contains what happened before the stream was open.
    const { pulls } = await client.call<{ pulls: PullRecord[] }>('pulls');
    let last = pulls.find(({ id }) => id === first.id) ?? first;
    if (isOver(last)) return last;
    status(pullLine(last, statusWidth));
    for await (const { event, data } of sseEvents(stream as AsyncIterable<Buffer>)) {
      if (event !== 'pull') continue;
      const { pull } = JSON.parse(data) as { pull: PullRecord };
      if (pull.id !== first.id) continue;
      last = pull;
      if (isOver(last)) break;
      status(pullLine(last, statusWidth));
    }
    return last;
  } finally {
    stream.destroy();
  }
}

/** Waits until a download is over or paused. On a terminal it shows the progress. */
export async function waitForPull(context: CommandContext, record: PullRecord): Promise<PullRecord> {
  let last = record;
  try {
    for (let failures = 0; !isOver(last); ) {
      const before = last;
      last = await followOnce(context, last).catch((error: unknown) => {
        failures += 1;
        const lost = !(error instanceof CliError) || error.exitCode === EXIT.unreachable;
        if (!lost || failures >= MAX_FAILURES) throw error;
        return before;
      });
      if (!isOver(last)) await pause(RETRY_MS);
    }
    return last;
  } finally {
    context.status(null);
  }
}
