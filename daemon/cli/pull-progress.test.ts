import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { PullRecord } from '../contract/pulls.ts';
import type { CommandContext } from './command.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { pullLine, waitForPull } from './pull-progress.ts';

const RECORD: PullRecord = {
  id: 'a1',
  repo: 'owner/name',
  revision: 'c',
  file: 'm.gguf',
  files: 1,
  state: 'running',
  bytes: 512 * 1024,
  total: 1024 * 1024,
  speed: 2048,
  eta_s: 256,
  retries: 0,
  retry_reason: null,
  error: null,
  model: null,
  licence: null,
  created: 0,
  updated: 0,
};

test('one line shows the progress, within the width', () => {
  expect(pullLine(RECORD, 200)).toBe(
    'm.gguf  [############------------]  50 %  512 KiB of 1.0 MiB  2.0 KiB/s  4 min 16 s left',
  );
  expect(
    pullLine(
      {
        ...RECORD,
        state: 'verifying',
        speed: null,
        eta_s: null,
        retries: 2,
        retry_reason: 'The hub closed the connection.',
      },
      200,
    ),
  ).toBe('m.gguf  verifying  512 KiB of 1.0 MiB  try 3: The hub closed the connection.');
  expect(pullLine({ ...RECORD, file: 'x\u001b[31m.gguf' }, 20)).toHaveLength(20);
});

const event = (pull: PullRecord) => `event: pull\ndata: ${JSON.stringify({ pull })}\n\n`;

/** A gateway stub that gives these results in turn: the text of an event stream, or a failure. */
function context(streams: (string | CliError)[], listed: PullRecord[] = [RECORD]) {
  const lines: (string | null)[] = [];
  const client = {
    open: async () => {
      const next = streams.shift();
      if (next === undefined || next instanceof CliError) throw next ?? new Error('no more');
      return Readable.from([Buffer.from(next)]);
    },
    call: async () => ({ pulls: listed }),
  };
  const made = { client, status: (line: string | null) => lines.push(line), width: 80 };
  return { made: made as unknown as CommandContext, lines };
}

test('it waits for the end, skips other downloads, and removes its line', async () => {
  const other = { ...RECORD, id: 'b2', state: 'done' as const };
  const { made, lines } = context([event(other) + event({ ...RECORD, state: 'done', model: 'm' })]);
  expect(await waitForPull(made, RECORD)).toMatchObject({ id: 'a1', state: 'done', model: 'm' });
  expect(lines.at(-1)).toBeNull();
});

test('a download that ended before the stream opened is read from the list', async () => {
  const { made } = context([''], [{ ...RECORD, state: 'failed' }]);
  expect(await waitForPull(made, RECORD)).toMatchObject({ state: 'failed' });
});

test('a refusal ends the wait at once', async () => {
  const { made } = context([new CliError('no', EXIT.refused)]);
  await expect(waitForPull(made, RECORD)).rejects.toMatchObject({ exitCode: EXIT.refused });
});
