/** svcctl on requests, usage, logs and events: the real program against a real daemon. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import type { RequestRecord, UsageView } from '../contract/system.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { waitForSlotState } from './harness/slots.ts';
import { envFor } from './harness/svcctl.ts';
import { SvcctlGateway } from './harness/svcctl-gateway.ts';
import { startLongStream } from './harness/tiny-gateway.ts';

const gateway = new SvcctlGateway();
const { run, runOk, runJson } = gateway;

describe('requests and usage', () => {
  const body = (content: string, more: object = {}) => ({
    model: 'agent',
    messages: [{ role: 'user', content }],
    max_tokens: 3,
    temperature: 0,
    ...more,
  });

  it('lists, shows by the short id, and sums', async () => {
    const response = await send(gateway, 'POST', '/v1/chat/completions', {
      key: CLIENT_KEY,
      body: body('x'),
    });
    const id = String(response.headers['x-request-id']);
    const out = await runOk('requests');
    expect(out).toMatch(/^ID +TIME +ROUTE +MODEL +SLOT +STATUS +FIRST +TOTAL +IN\/OUT$/m);
    expect(out).toMatch(new RegExp(`^${id.slice(-8)} .* chat/compl\\S+ +tiny +agent +200 `, 'm'));
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await runOk('requests', 'show', id.slice(-8))).toMatch(new RegExp(`^Id +${id}$`, 'm'));
    expect((await runJson<RequestRecord>('requests', 'show', id)).id).toBe(id);
    const older = await runJson<{ recent: RequestRecord[] }>(
      'requests',
      'list',
      '--before',
      id,
      '--limit',
      '1',
    );
    expect(older.recent.map((each) => each.id)).not.toContain(id);
    await until(async () => (await runJson<UsageView>('usage')).days.length > 0, 'the sums');
    expect(await runOk('usage', '--days', '1')).toMatch(/^\d{4}-\d\d-\d\d +client +tiny +\d+ +\d+ +\d+$/m);
  });

  it('cancels a running one', async () => {
    const streamed = await startLongStream(gateway, 'agent', 30_000, CLIENT_KEY);
    const { running } = await runJson<{ running: RequestRecord[] }>('requests', 'list', '--state', 'running');
    const id = running[0]?.id ?? '';
    expect(await runOk('requests', 'cancel', id.slice(-8))).toBe(`Request ${id} is cancelled.\n`);
    await streamed.ended;
    await until(
      async () => (await runOk('requests', 'list', '--state', 'running')) === 'No request yet.\n',
      'its end',
    );
    expect(await runOk('requests', 'cancel', id)).toBe(`Request ${id} is cancelled.\n`);
    const { recent } = await runJson<{ recent: RequestRecord[] }>('requests', 'list', '--state', 'done');
    const served = recent.find(({ error }) => error === null)?.id ?? '';
    expect(await runOk('requests', 'cancel', served)).toBe(`Request ${served} had already ended.\n`);
  });
});

describe('agents', () => {
  it('prints the configuration with the window of the model', async () => {
    expect(await runOk('agents')).toMatch(/^codex +Codex /m);
    const { window, text } = await runJson<{ window: number; text: string }>('agents', 'codex');
    expect(text).toContain(`model_context_window = ${window}`);
    expect(await runOk('agents', 'opencode', '--model', 'agent')).toContain(`"context": ${window}`);
    expect(await run(['agents', 'unknown'])).toMatchObject({ code: 2 });
    expect(await run(['agents', 'codex', '--model', 'nothing'])).toMatchObject({ code: 1 });
  });
});

describe('logs and events', () => {
  /** Runs a command that only ends on a signal, until `act` accepts its output. */
  async function runFollowing(
    args: string[],
    enough: (out: string) => boolean,
    act: () => Promise<unknown>,
    trigger: () => Promise<unknown> = async () => {},
  ) {
    const program = join(import.meta.dirname, '..', '..', 'scripts', 'svcctl');
    const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...envFor(gateway) };
    const child = spawn(program, args, { env });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      await until(
        async () => {
          await trigger();
          return out !== '';
        },
        `${args.join(' ')} to print`,
      );
      await act();
      await until(() => enough(out), `${args.join(' ')} to print more`);
    } finally {
      child.kill('SIGINT');
      await ended;
    }
    return out;
  }

  it('of a slot: past lines, and live lines with -f', async () => {
    const { pid } = await runJson<SlotRecord>('slots', 'load', 'utility');
    expect(await runOk('slots', 'logs', 'utility')).toContain(`(pid ${pid},`);
    expect((await runOk('logs', 'utility', '-n', '1')).trimEnd().split('\n')).toHaveLength(1);
    let next = 0;
    const out = await runFollowing(
      ['logs', '-f', 'utility'],
      (text) => next > 0 && text.includes(`(pid ${next},`),
      async () => {
        next = (await runJson<SlotRecord>('slots', 'restart', 'utility')).pid as number;
      },
    );
    expect(out).toContain(`(pid ${pid},`);
  });

  it('of the gateway: readable lines, or JSON', async () => {
    process.kill((await runJson<SlotRecord>('slots', 'load', 'utility')).pid as number, 'SIGKILL');
    await gateway.waitFor('slot failed');
    const out = await runOk('logs', '--level', 'warn');
    expect(out).toMatch(/^\d\d:\d\d:\d\d WARN {2}slot failed slot=utility reason=/m);
    const lines = (await runOk('logs', '--json')).trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
    expect(await run(['logs', '--level', 'loud'])).toMatchObject({ code: 2, out: '' });
    await waitForSlotState(gateway, 'utility', 'ready', ADMIN_KEY);
  });

  it('prints events, one JSON object per line with --json', async () => {
    const out = await runFollowing(
      ['events', '--json'],
      (text) => text.includes('"state":"ready"'),
      () => runOk('slots', 'restart', 'utility'),
      // Every probe is an event, so that one follows when the stream is open.
      () => send(gateway, 'POST', '/api/hardware/probe', { key: ADMIN_KEY }),
    );
    const lines = out.slice(0, out.lastIndexOf('\n')).split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) });
  });
});
