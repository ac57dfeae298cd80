/** svcctl on requests, usage, logs and events: the real program against a real daemon. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../contract/slots.ts';
import type { RequestRecord, UsageView } from '../contract/system.ts';
import { ADMIN_KEY, CLIENT_KEY, until } from './harness/gateway.ts';
import { ask } from './harness/http.ts';
import { slotState } from './harness/slots.ts';
import { svcctlEnv } from './harness/svcctl.ts';
import { SvcctlGateway } from './harness/svcctl-gateway.ts';
import { flowing } from './harness/tiny-gateway.ts';

const here = new SvcctlGateway();
const { run, stdout, parsed } = here;

describe('requests and usage', () => {
  const body = (content: string, more: object = {}) => ({
    model: 'agent',
    messages: [{ role: 'user', content }],
    max_tokens: 3,
    temperature: 0,
    ...more,
  });

  it('lists, shows by the short id, and sums', async () => {
    const answer = await ask(here, 'POST', '/v1/chat/completions', {
      key: CLIENT_KEY,
      body: body('x'),
    });
    const id = String(answer.headers['x-request-id']);
    const out = await stdout('requests');
    expect(out).toMatch(/^ID +TIME +ROUTE +MODEL +SLOT +STATUS +FIRST +TOTAL +IN\/OUT$/m);
    expect(out).toMatch(new RegExp(`^${id.slice(-8)} .* chat/compl\\S+ +tiny +agent +200 `, 'm'));
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await stdout('requests', 'show', id.slice(-8))).toMatch(new RegExp(`^Id +${id}$`, 'm'));
    expect((await parsed<RequestRecord>('requests', 'show', id)).id).toBe(id);
    const older = await parsed<{ recent: RequestRecord[] }>(
      'requests',
      'list',
      '--before',
      id,
      '--limit',
      '1',
    );
    expect(older.recent.map((each) => each.id)).not.toContain(id);
    await until(async () => (await parsed<UsageView>('usage')).days.length > 0, 'the sums');
    expect(await stdout('usage', '--days', '1')).toMatch(/^\d{4}-\d\d-\d\d +client +tiny +\d+ +\d+ +\d+$/m);
  });

  it('cancels a running one', async () => {
    const streamed = await flowing(here, 'agent', 30_000, CLIENT_KEY);
    const { running } = await parsed<{ running: RequestRecord[] }>('requests', 'list', '--state', 'running');
    const id = running[0]?.id ?? '';
    expect(await stdout('requests', 'cancel', id.slice(-8))).toBe(`Request ${id} is cancelled.\n`);
    await streamed.ended;
    await until(
      async () => (await stdout('requests', 'list', '--state', 'running')) === 'No request yet.\n',
      'its end',
    );
    expect(await stdout('requests', 'cancel', id)).toBe(`Request ${id} is cancelled.\n`);
    const { recent } = await parsed<{ recent: RequestRecord[] }>('requests', 'list', '--state', 'done');
    const served = recent.find(({ error }) => error === null)?.id ?? '';
    expect(await stdout('requests', 'cancel', served)).toBe(`Request ${served} had already ended.\n`);
  });
});

describe('logs and events', () => {
  /** Runs a command that only ends on a signal, until `enough` accepts its output. */
  async function following(
    args: string[],
    enough: (out: string) => boolean,
    act: () => Promise<unknown>,
    stir: () => Promise<unknown> = async () => {},
  ) {
    const program = join(import.meta.dirname, '..', '..', 'scripts', 'svcctl');
    const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...svcctlEnv(here) };
    const child = spawn(program, args, { env });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    try {
      await until(
        async () => {
          await stir();
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

  it('of a slot: the past, and live lines with -f', async () => {
    const { pid } = await parsed<SlotRecord>('slots', 'load', 'utility');
    expect(await stdout('slots', 'logs', 'utility')).toContain(`(pid ${pid},`);
    expect((await stdout('logs', 'utility', '-n', '1')).trimEnd().split('\n')).toHaveLength(1);
    let next = 0;
    const out = await following(
      ['logs', '-f', 'utility'],
      (text) => next > 0 && text.includes(`(pid ${next},`),
      async () => {
        next = (await parsed<SlotRecord>('slots', 'restart', 'utility')).pid as number;
      },
    );
    expect(out).toContain(`(pid ${pid},`);
  });

  it('of the gateway: readable lines, or JSON', async () => {
    process.kill((await parsed<SlotRecord>('slots', 'load', 'utility')).pid as number, 'SIGKILL');
    await here.waitFor('slot failed');
    const out = await stdout('logs', '--level', 'warn');
    expect(out).toMatch(/^\d\d:\d\d:\d\d WARN {2}slot failed slot=utility reason=/m);
    const lines = (await stdout('logs', '--json')).trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
    expect(await run(['logs', '--level', 'loud'])).toMatchObject({ code: 2, out: '' });
    await slotState(here, 'utility', 'ready', ADMIN_KEY);
  });

  it('prints events, one JSON object per line with --json', async () => {
    const out = await following(
      ['events', '--json'],
      (text) => text.includes('"state":"ready"'),
      () => stdout('slots', 'restart', 'utility'),
      // Every probe is an event, so that one follows when the stream is open.
      () => ask(here, 'POST', '/api/hardware/probe', { key: ADMIN_KEY }),
    );
    const lines = out.slice(0, out.lastIndexOf('\n')).split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) });
  });
});
