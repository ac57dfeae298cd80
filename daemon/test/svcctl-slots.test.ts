import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HardwareView } from '../contract/hardware.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../contract/slots.ts';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { waitForSlotState } from './harness/slots.ts';
import { LONG, SvcctlGateway } from './harness/svcctl-gateway.ts';

const gateway = new SvcctlGateway();
const { run, runOk, runJson } = gateway;
const file = (name: string) => join(gateway.home, `config/slots/${name}.toml`);

describe('slots list and show', () => {
  it('is a table that fits 80 columns, for any names', async () => {
    const out = await runOk('slots', 'list');
    expect(out).toMatch(/^SLOT +STATE +MODEL +DEVICE +BUSY +QUEUE +TOK\/S +MEMORY$/m);
    expect(out).toMatch(/^agent +ready +tiny +cpu +0\/\d+ +0 /m);
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(out).toContain('…');
    expect(await runOk('slots', 'list', '--wide')).toContain(LONG);
    expect((await run(['slots', 'list'], { env: { COLUMNS: '' } })).out).toContain(LONG);
    // Memory is measured again between the two, and a wider figure leaves less space for names.
    const stableParts = (table: string) =>
      table.replace(/\S+ [KMG]iB/g, 'N').replace(/^(\S{12})\S*| {2,}/gm, '$1 ');
    expect(stableParts(await runOk('slots'))).toBe(stableParts(await runOk('slots', 'list')));
  });

  it('names only, for programs', async () => {
    const names = (await runOk('slots', 'list', '-q')).trim().split('\n');
    expect(names).toEqual(expect.arrayContaining(['agent', 'hollow', 'utility']));
    const { slots } = await runJson<{ slots: SlotRecord[] }>('slots', 'list');
    expect(names).toEqual(slots.map(({ name }) => name));
  });

  it('shows one', async () => {
    const out = await runOk('slots', 'show', 'agent');
    expect(out).toMatch(/^State +ready since /m);
    expect(out).toMatch(/^Engine +embedded, runner worker, pid \d+$/m);
    expect((await runJson<SlotRecord>('slots', 'show', 'agent')).name).toBe('agent');
  });
});

describe('slots load, unload, restart and swap', () => {
  it('return when the action is done', async () => {
    expect(await runOk('slots', 'load', 'utility')).toBe('utility is ready, model tiny.\n');
    const before = (await runJson<SlotRecord>('slots', 'show', 'utility')).pid;
    expect((await runJson<SlotRecord>('slots', 'restart', 'utility')).pid).not.toBe(before);
    expect(await runOk('slots', 'swap', 'utility', 'second')).toBe('utility is ready, model second.\n');
    expect(readFileSync(file('utility'), 'utf8')).toBe('# mine\nmodel = "second"\nparallel = 1\n');
    expect(await runOk('slots', 'swap', 'utility', 'tiny', '--once')).toContain('model tiny');
    expect(readFileSync(file('utility'), 'utf8')).toContain('"second"');
    expect(await runOk('slots', 'unload', 'utility')).toContain('utility is offline');
  });

  it('with --no-wait return at once', async () => {
    const { state } = await runJson<SlotRecord>('slots', 'load', 'utility', '--no-wait');
    expect(['starting', 'warming', 'ready']).toContain(state);
    await waitForSlotState(gateway, 'utility', 'ready', ADMIN_KEY);
    await runOk('slots', 'unload', 'utility', '--wait');
  });

  it('at a terminal a line shows the state until the action is done', async () => {
    rmSync(gateway.loadedFile, { force: true });
    await runOk('slots', 'unload', 'lasting', '--wait');
    const line = /\r\u001b\[Klasting: (offline|starting|warming)/;
    const ran = await run(['slots', 'load', 'lasting'], {
      terminal: true,
      onOutput: (out) => line.test(out) && writeFileSync(gateway.loadedFile, ''),
    });
    expect(ran.code, ran.out).toBe(0);
    expect(ran.out).toMatch(line);
    expect(ran.out).toMatch(/\r\u001b\[Klasting is ready, model \w+\.\s*$/);
  });

  it.each([
    [['slots', 'load', 'absent'], 1, /There is no slot "absent"\. Slots: .*\. \(slot\.not_found\)/],
    [
      ['slots', 'load', 'hollow'],
      1,
      /Slot hollow cannot be loaded: The model \S+ of the slot file was not found\. .* \(slot\.failed\)/,
    ],
    [['slots', 'swap', 'agent', 'absent'], 1, /\(model\.not_found\)/],
    [['slots', 'load'], 2, /svcctl slots load \[options\] <slot>/],
    [['slots', 'load', 'a', 'b'], 2, /svcctl slots load \[options\] <slot>/],
    [['slots', 'swap', 'agent'], 2, /svcctl slots swap \[options\] <slot> <model>/],
    [['slots', 'laod', 'agent'], 2, /Did you mean load\?/],
    [['slots', 'load', 'agent', '--force'], 2, /has no option --force/],
    [['logs', '--lines', 'many'], 2, /--lines takes a whole number from 0 to 1000/],
    [['requests', '--limit', '0'], 2, /--limit takes a whole number from 1 to 1000/],
    [['requests', 'show', 'ffffffff'], 1, /no recent request has an id that ends in ffffffff/],
  ])('%j exits with %d and one line', async (args, code, message) => {
    const ran = await run(args);
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toMatch(message);
    expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('refuses a client key', async () => {
    const ran = await run(['slots', 'unload', 'agent'], { env: { SVC_CLIENT_KEY: CLIENT_KEY } });
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.err).toContain('(auth.forbidden)');
  });
});

describe('slots create, set, plan and rm', () => {
  it('creates, changes and removes a slot', async () => {
    expect(await runOk('slots', 'create', 'writer', 'model=second', 'context=1024', 'pinned=yes')).toBe(
      'Created slot writer (offline).\n',
    );
    expect(readFileSync(file('writer'), 'utf8')).toMatch(/context = 1024/);
    expect(await runOk('slots', 'set', 'writer', 'idle_unload=5 min', 'context=')).toBe(
      'Changed slot writer.\n',
    );
    const text = readFileSync(file('writer'), 'utf8');
    expect([text.includes('"5 min"'), text.includes('context')]).toEqual([true, false]);
    expect(await run(['slots', 'rm', 'writer'])).toMatchObject({ code: 5, out: '' });
    const declined = await run(['slots', 'rm', 'writer'], { terminal: true, input: 'n' });
    expect([declined.code, existsSync(file('writer'))]).toEqual([5, true]);
    expect(await runOk('slots', 'rm', 'writer', '--force')).toBe('Removed slot writer.\n');
    expect(existsSync(file('writer'))).toBe(false);
  });

  it('names each key that the gateway refuses', async () => {
    const ran = await run(['slots', 'set', 'utility', 'extra_args=--x', 'env=A', 'parallel=2']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/extra_args cannot be set here; env cannot be set here\. \(request\.invalid\)/);
    const value = await run(['slots', 'set', 'utility', 'device=abacus']);
    expect(value.err).toMatch(/device .*must be auto.*\(slot\.invalid\)/);
    const words = await run(['slots', 'set', 'utility', 'context=abc', 'idle_unload=soon', 'pinned=maybe']);
    expect(words.err).toMatch(
      / context must be a number; pinned must be true or false\. \(request\.invalid\)/,
    );
    const time = await run(['slots', 'set', 'utility', 'idle_unload=soon']);
    expect(time.err).toMatch(/ idle_unload must be seconds or a text like "15 min"\. \(slot\.invalid\)/);
    const name = await run(['slots', 'create', 'Bad Name', 'model=tiny']);
    expect(name.err).toMatch(
      / name must contain only a-z, 0-9, - and _, at most 32 characters\. \(request\.invalid\)/,
    );
    expect((await run(['slots', 'set', 'utility'])).code).toBe(2);
  });

  it('prints every setting of a slot and its origin', async () => {
    const out = await runOk('slots', 'settings', 'utility');
    expect(out).toMatch(/^Slot +utility$/m);
    expect(out).toMatch(/^parallel +1 +file$/m);
    expect(out).toMatch(/^autoload +false +default$/m);
    expect(out).toMatch(/^extra_args +\[\] +default +file only$/m);
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await runJson<SlotSettingsView>('slots', 'settings', 'utility')).toMatchObject({
      slot: 'utility',
    });
  });

  it('plans a load without starting it', async () => {
    await runOk('slots', 'unload', 'utility');
    const out = await runOk('slots', 'plan', 'utility', '--model', 'second');
    expect(out).toMatch(/^Slot +utility, model second$/m);
    expect(out).toMatch(/^Now +it would start at once$/m);
    expect(out).toMatch(/^parallel +1 +file$/m);
    expect(out).toMatch(/^Needed +[\d.]+ [KMG]iB \((estimated|measured)\)$/m);
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(await runJson<SlotPlanView>('slots', 'plan', 'utility')).toMatchObject({
      slot: 'utility',
      launch: { slot: { from: 'file' }, model_id: { from: 'file' }, type: { from: 'default' } },
    });
    expect((await runJson<SlotPlanView>('slots', 'plan', 'agent')).launch).toMatchObject({
      slot: { from: 'file' },
      model_id: { from: 'default' },
    });
    expect((await runJson<SlotPlanView>('slots', 'plan', 'second')).launch).toMatchObject({
      slot: { from: 'model' },
      model_id: { from: 'model' },
      type: { from: 'model' },
    });
    expect(await runJson<SlotRecord>('slots', 'show', 'utility')).toMatchObject({ state: 'offline' });
  });
});

describe('models and hardware', () => {
  it('tables that fit, and JSON', async () => {
    const models = await runOk('models');
    expect(models).toMatch(/^MODEL +TYPE +QUANT +SIZE +CONTEXT +MEMORY +BOUND TO +FROM +LICENCE$/m);
    expect(models).toMatch(/^second +llm /m);
    const hardware = await runOk('hardware');
    expect(hardware).toMatch(/^Processor +.+ cores \(\d+ threads\)$/m);
    expect(hardware).toMatch(/^DEVICE +KIND +NAME +DRIVER +MEMORY +ACCESS$/m);
    for (const line of [
      ...models.split('\n'),
      ...hardware.split('\n').filter((each) => !each.startsWith('!')),
    ]) {
      if (!line.startsWith('Processor')) expect(line.length, line).toBeLessThanOrEqual(80);
    }
    const before = await runJson<HardwareView>('hardware');
    const after = await runJson<HardwareView>('hardware', 'probe');
    expect(after.probed_at).toBeGreaterThan(before.probed_at);
  });
});

describe('a slot whose model is missing', () => {
  it('causes a warning, because its record has no failure', async () => {
    const warning = 'The configured model was not found for slot: hollow.';
    expect(await runOk('status')).toContain(`! ${warning}\n`);
    expect(await runJson<SlotRecord>('slots', 'show', 'hollow')).toMatchObject({
      state: 'offline',
      model: null,
      failure: null,
    });
  });
});

describe('without a gateway', () => {
  it('prints its version', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:1', SVC_HOME: '/nonexistent' };
    const ran = await run(['--version'], { env });
    expect(ran).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^svcctl \d+\.\d+\.\d+\S*\n$/),
    });
  });

  it('help and completion need none', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:1', SVC_HOME: '/nonexistent' };
    expect(await run(['slots', 'load', '--help'], { env })).toMatchObject({ code: 0, err: '' });
    expect((await run(['help', 'slots'], { env })).out).toContain('swap <slot> <model>');
    expect((await run(['completion', 'bash'], { env })).out).toContain('complete -F _svcctl svcctl');
    expect(await run(['completion', 'csh'], { env })).toMatchObject({ code: 2, out: '' });
    expect(await run(['slots', 'list'], { env })).toMatchObject({ code: 3, out: '' });
  });
});
