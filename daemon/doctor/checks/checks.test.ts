import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeviceRecord } from '../../contract/hardware.ts';
import { silentLog } from '../../lib/log.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import { openStore } from '../../store/store.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { examine } from '../examine.ts';
import type { Finding } from '../finding.ts';
import { factsOf, HARDWARE, STATUS, slotOf } from '../testing/doctor-input.ts';
import { configuration } from './configuration.ts';
import { database } from './database.ts';
import { engines, versionIn } from './engines.ts';
import { files } from './files.ts';
import { gateway, port } from './gateway.ts';
import { containers, devices, groupIds, groups, threads } from './machine.ts';
import { exposure, proxy } from './posture.ts';
import { clock, disk, models } from './storage.ts';
import { CHECKS } from './table.ts';

function folders(): { root: string; config: string; state: string } {
  const root = scratch();
  for (const name of ['config', 'state']) mkdirSync(join(root, name), { mode: 0o700 });
  return { root, config: join(root, 'config'), state: join(root, 'state') };
}

const texts = (found: readonly Finding[]) => found.map(({ status, message }) => `${status} ${message}`);
const up = (more: Partial<DoctorInput['gateway']> = {}): DoctorInput['gateway'] => ({
  state: 'up',
  url: 'http://127.0.0.1:8080',
  version: '1',
  status: STATUS,
  hardware: null,
  modelProblems: [],
  slots: [],
  ...more,
});

it('every finding but an ok one has a next step, in one line without secrets', async () => {
  const KEY = 'canary-key-51ab';
  const facts = await factsOf({ SVC_ADMIN_KEY: KEY, SVC_BIND_HOST: '0.0.0.0' });
  for (const check of Object.values(CHECKS)) {
    for (const { status, fix, message } of await check(facts)) {
      expect(fix === null).toBe(status === 'ok');
      expect(`${message}${fix}`).not.toMatch(/\n/);
      expect(`${message}${fix}`).not.toContain(KEY);
    }
  }
});

describe('gateway and port', () => {
  it.each<[Partial<DoctorInput>, string]>([
    [{}, 'warn No gateway runs'],
    [{ gateway: up() }, 'ok svc-gateway 1 answers'],
    [{ holder: 77 }, 'fail A gateway runs (process 77) but does not respond'],
    [{ gateway: { ...up(), state: 'silent' } }, 'fail Another program answers on'],
  ])('%j', async (more, expectedText) => {
    expect(texts(gateway(await factsOf({}, more)))[0]).toContain(expectedText);
  });

  it('shows the warnings of the gateway itself, and a missing key', async () => {
    const warned = up({ status: { ...STATUS, warnings: [{ id: 'slots', message: 'Failed: agent.' }] } });
    expect(texts(gateway(await factsOf({}, { gateway: warned })))[1]).toBe('warn Failed: agent.');
    const away = up({ status: { ...STATUS, warnings: [{ id: 'upstreams', message: 'Down: desk.' }] } });
    expect(gateway(await factsOf({}, { gateway: away }))[1]?.fix).toContain('svcctl upstreams test');
    const blind = gateway(await factsOf({}, { gateway: up({ status: null }) }));
    expect(blind[1]).toMatchObject({ status: 'warn', fix: expect.stringContaining('SVC_ADMIN_KEY') });
  });

  it.each<[Partial<DoctorInput>, string]>([
    [{}, 'ok 127.0.0.1 port 8080 is free'],
    [{ gateway: up() }, `ok 127.0.0.1 port ${STATUS.listener.port} is in use by the gateway`],
    [
      { gateway: up({ status: null }), port: { state: 'taken', by: null } },
      'ok 127.0.0.1 port 8080 is in use by the gateway',
    ],
    [{ gateway: up({ status: null }) }, 'ok 127.0.0.1 port 8080 is free'],
    [
      { port: { state: 'taken', by: 'nginx (process 8)' } },
      'fail 127.0.0.1 port 8080 is in use by nginx (process 8)',
    ],
    [{ port: { state: 'taken', by: null } }, 'in use by another program'],
    [{ port: { state: 'taken', by: 'systemd (process 1)' } }, 'ok 127.0.0.1 port 8080 is in use by systemd'],
    [{ port: { state: 'no_address' } }, 'fail This machine has no address'],
    [{ port: { state: 'not_permitted' } }, 'fail'],
  ])('%j', async (more, expectedText) => {
    expect(texts(port(await factsOf({}, more)))[0]).toContain(expectedText);
  });
});

describe('security posture', () => {
  it.each<[Record<string, string>, Partial<DoctorInput>, string]>([
    [{}, {}, 'ok Keys are not required, and only this machine'],
    [{ SVC_BIND_HOST: '192.168.1.5' }, {}, 'warn It listens on 192.168.1.5 and no key'],
    [
      { SVC_BIND_HOST: '0.0.0.0' },
      { exposureProblem: { message: 'from the internet', fix: 'x' } },
      'fail from the internet',
    ],
    [{ SVC_REQUIRE_AUTH: 'on' }, {}, 'fail Keys are required and no admin key'],
    [{ SVC_REQUIRE_AUTH: 'on', SVC_ADMIN_KEY: 'k' }, {}, 'ok Keys are required'],
  ])('exposure with %j', async (env, more, expectedText) => {
    expect(texts(exposure(await factsOf(env, more)))[0]).toContain(expectedText);
  });

  it('without an admin key no rotation is advised: it is refused while keys are required', async () => {
    expect(exposure(await factsOf({ SVC_REQUIRE_AUTH: 'on' }))[0]?.fix).toBe(
      'Set SVC_ADMIN_KEY=<key> in api.env.',
    );
  });

  it.each<[Record<string, string>, string]>([
    [{}, 'ok X-Forwarded-For is ignored'],
    [{ SVC_TRUST_FORWARDED_FOR: 'on' }, 'ok X-Forwarded-For of the proxy'],
    [{ SVC_TRUST_FORWARDED_FOR: 'on', SVC_BIND_HOST: '0.0.0.0' }, 'warn Any machine'],
  ])('proxy with %j', async (env, expectedText) => {
    expect(texts(proxy(await factsOf(env)))[0]).toContain(expectedText);
  });

  it('what the gateway observed of a proxy is listed first', async () => {
    const status = { ...STATUS, warnings: [{ id: 'proxy', message: 'Several callers share one address.' }] };
    const found = proxy(await factsOf({}, { gateway: up({ status }) }));
    expect(found[0]).toMatchObject({ status: 'warn', message: 'Several callers share one address.' });
  });
});

describe('an ordinary user without access to the files of the service', () => {
  const denied = async (more: Partial<DoctorInput> = {}) => {
    const { settings } = await factsOf({ SVC_REQUIRE_AUTH: 'on' });
    const paths = ['/etc/svc/config.toml', '/etc/svc/api.env'];
    const problems = paths.map((file) => ({ file, line: null, message: 'cannot be read (EACCES)' }));
    const blind = {
      ...settings,
      denied: () => paths,
      problems: () => problems,
      fatalConfigError: () => problems[0] ?? null,
    };
    const unlisted = { file: 'slots', line: null, message: 'cannot be listed (EACCES)' };
    return examine(await factsOf({}, { settings: blind, fileProblems: [unlisted], ...more }));
  };

  it('is advised once to use sudo, and no check uses the defaults', async () => {
    const found = await denied();
    expect(texts(found.filter(({ id }) => id === 'configuration'))).toEqual([
      'warn svc cannot read /etc/svc/config.toml and /etc/svc/api.env; checks that depend on it are skipped.',
    ]);
    expect(found.filter(({ status }) => status === 'fail')).toEqual([]);
    for (const id of ['port', 'exposure', 'proxy', 'models', 'threads', 'files'])
      expect(found.filter((one) => one.id === id)).toEqual([]);
  });

  it('uses the reports of the running gateway', async () => {
    const status = {
      ...STATUS,
      enforcement: { require_auth: true, source: 'file' as const },
      has_admin_key: true,
    };
    const found = await denied({ gateway: up({ status }), exposureProblem: { message: 'open', fix: 'x' } });
    expect(texts(found.filter(({ id }) => id === 'exposure' || id === 'port'))).toEqual([
      'ok 127.0.0.1 port 1 is in use by the gateway.',
      'ok Keys are required; it listens on 127.0.0.1.',
    ]);
  });
});

it('the running gateway reports whether it has keys, regardless of the environment of the caller', async () => {
  const status = { ...STATUS, enforcement: { require_auth: true, source: 'file' as const } };
  const found = exposure(await factsOf({ SVC_ADMIN_KEY: 'k' }, { gateway: up({ status }) }));
  expect(texts(found)[0]).toContain('fail Keys are required and no admin key');
});

describe('files and configuration', () => {
  it('names files that others can read, with the command that fixes it', async () => {
    const { root, config, state } = folders();
    const facts = () => factsOf({ SVC_HOME: root });
    expect(texts(await files(await facts()))).toEqual([
      `ok ${config} and ${state} are private to their owner.`,
    ]);
    writeFileSync(join(config, 'api.env'), '', { mode: 0o644 });
    symlinkSync('/nowhere', join(config, 'companion.env'));
    chmodSync(state, 0o755);
    const found = await files(await facts());
    expect(found.map(({ fix }) => fix)).toEqual([
      `chmod 700 ${state}`,
      `chmod 600 ${join(config, 'api.env')}`,
      `rm ${join(config, 'companion.env')}`,
    ]);
    expect(found.every(({ status }) => status === 'fail')).toBe(true);
  });

  it.each<[string, (path: string) => void, string, RegExp]>([
    ['cut', (path) => writeFileSync(path, 'x'.repeat(31), { mode: 0o600 }), 'has 31 bytes', /Put the right/],
    ['a link', (path) => symlinkSync('/nowhere', path), 'is a symlink', /Put the right/],
    ['a folder', (path) => mkdirSync(path, { mode: 0o700 }), 'is a directory', /Put the right/],
    ['open', (path) => writeFileSync(path, 'x'.repeat(32), { mode: 0o644 }), 'mode 644', /^chmod 600/],
    ['a program', (path) => writeFileSync(path, 'x'.repeat(32), { mode: 0o700 }), 'mode 0700', /^chmod 600/],
  ])(
    'finds a signing secret that is %s, on which no gateway starts',
    async (_name, make, expectedText, fix) => {
      const { root, state } = folders();
      make(join(state, 'secret.bin'));
      const [found] = await files(await factsOf({ SVC_HOME: root }));
      expect(found).toMatchObject({
        status: 'fail',
        message: expect.stringContaining(expectedText),
        fix: expect.stringMatching(fix),
      });
    },
  );

  it('names files that are mounts of their own, and no folders or foreign mounts', async () => {
    const { root, config } = folders();
    writeFileSync(join(config, 'api.env'), '', { mode: 0o600 });
    mkdirSync(join(config, 'slots'));
    writeFileSync(join(config, 'slots', 'own.toml'), '');
    const mountPoints = ['/', '/proc', config, join(config, 'slots'), `${config}-other/api.env`];
    const checked = async (points: readonly string[]) =>
      files(await factsOf({ SVC_HOME: root }, { mountPoints: points }));
    expect(texts(await checked(mountPoints))[0]).toMatch(/^ok /);
    const mounted = [join(config, 'api.env'), join(config, 'slots', 'own.toml')];
    expect(await checked([...mountPoints, ...mounted])).toEqual(
      mounted.map((path) => ({
        id: 'files',
        status: 'warn',
        message: `${path} is a mount of its own, so the gateway cannot change it.`,
        fix: `Mount ${config} instead of the file.`,
      })),
    );
  });

  it('reports every problem with file and line', async () => {
    const { root, config } = folders();
    writeFileSync(join(config, 'config.toml'), '[server]\nport = "x"\n');
    const fileProblems = [{ file: 'slots/a.toml', line: 3, message: 'type: unknown' }];
    const found = configuration(
      await factsOf({ SVC_HOME: root }, { fileProblems, isRestoreIncomplete: true }),
    );
    expect(texts(found)[0]).toContain('fail A restore was started');
    expect(texts(found)[1]).toContain('warn config.toml:2 server.port');
    expect(texts(found)[2]).toBe('warn slots/a.toml:3 type: unknown.');
    writeFileSync(join(config, 'config.toml'), '[server\n');
    expect(texts(configuration(await factsOf({ SVC_HOME: root })))[0]).toMatch(/^fail config\.toml:1 /);
  });

  it('checks the database of a stopped gateway, and not that of a running one', async () => {
    const { root, state } = folders();
    const checkDatabase = async (more: Partial<DoctorInput> = {}) =>
      texts(database(await factsOf({ SVC_HOME: root }, more)));
    expect((await checkDatabase())[0]).toContain('ok There is no database yet');
    openStore({ folder: state, log: silentLog() }).close();
    expect((await checkDatabase())[0]).toContain('ok The database is intact');
    writeFileSync(join(state, 'svc.db'), 'x'.repeat(4096));
    expect((await checkDatabase())[0]).toContain('fail The database is damaged');
    expect(await checkDatabase({ holder: 7 })).toEqual([]);
  });
});

describe('storage', () => {
  it('reports the free space of the state folder, also before it exists', async () => {
    const { root } = folders();
    for (const home of [root, join(root, 'not/yet')]) {
      expect((await disk(await factsOf({ SVC_HOME: home })))[0]).toMatchObject({ id: 'disk' });
    }
  });

  it('checks the configured paths of models', async () => {
    const { root, config } = folders();
    writeFileSync(join(config, 'config.toml'), `[models]\nfolders = ["${root}", "/nowhere/models"]\n`);
    const slots = [slotOf('a', 'model = "/nowhere/b.gguf"\n')];
    const found = await models(await factsOf({ SVC_HOME: root }, { slots }));
    expect(texts(found)).toEqual([
      'warn /nowhere/models does not exist.',
      'warn /nowhere/b.gguf does not exist.',
    ]);
  });

  it('reports a clock before the build date or before the date of its own files', async () => {
    const { root, state } = folders();
    const at = async (now: number) => texts(await clock(await factsOf({ SVC_HOME: root }, { now })))[0];
    expect(await at(Date.now())).toMatch(/^ok The system clock is at /);
    expect(await at(0)).toContain('fail');
    writeFileSync(join(state, 'x'), '');
    utimesSync(join(state, 'x'), new Date(), new Date(Date.now() + 30 * 86_400_000));
    expect(await at(Date.now())).toContain('warn');
  });
});

describe('the machine', () => {
  const card: DeviceRecord = {
    id: '0000:01:00.0',
    kind: 'gpu',
    vendor: 'NVIDIA',
    name: 'Card',
    driver: 'nvidia',
    access: 'ok',
    memory_total_bytes: null,
    memory_used_bytes: null,
    pool: null,
    busy_percent: null,
    power_w: null,
    temperature_c: null,
    unused_reason: null,
  };
  const withDevice = (more: Partial<DeviceRecord>) =>
    factsOf(
      {},
      { hardware: { ...HARDWARE, devices: [{ ...card, ...more }] }, user: { uid: 65_534, name: 'svc' } },
    );

  it('lists used accelerators, and unused ones with the reason and the fix', async () => {
    expect(devices(await withDevice({}))[0]).toMatchObject({ status: 'ok', fix: null });
    expect(devices(await withDevice({ unused_reason: 'No driver is loaded: install it.' }))[0]).toEqual({
      id: 'device',
      status: 'warn',
      message: 'Card (0000:01:00.0) is not used. No driver is loaded.',
      fix: 'install it.',
    });
    expect(devices(await factsOf({}))[0]?.status).toBe('ok');
    expect(devices(await factsOf({}, { hardware: null }))[0]?.status).toBe('warn');
  });

  it('group membership is checked only when a device exists', async () => {
    expect(groups(await factsOf({}))[0]?.status).toBe('ok');
    const [found] = groups(await withDevice({}));
    expect(found?.id).toBe('groups');
    expect(groupIds('render:x:107:svc\nbad\nvideo:x:44:\n')).toEqual(
      new Map([
        ['render', 107],
        ['video', 44],
      ]),
    );
  });

  it('a missing container engine is reported only when a slot needs one', async () => {
    expect(containers(await factsOf({}))[0]?.status).toBe('ok');
    const slots = [
      slotOf('img', 'engine = "llama-server"\nrunner = "container"\nimage = "x"\nmodel = "/m"\n'),
    ];
    expect(containers(await factsOf({}, { slots }))[0]).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('slot img'),
    });
  });

  it('reports more threads than cores', async () => {
    expect(threads(await factsOf({}))[0]?.message).toContain('share 3 threads of 4 physical cores');
    expect(threads(await factsOf({ SVC_CPU_THREADS: '9' }))[0]?.status).toBe('warn');
  });

  it.each([
    ['a command', 'engine = "vllm"\ncommand = ["PROGRAM"]\nmodel = "m"\n'],
    ['a command of a custom engine', 'engine = "custom"\ncommand = ["PROGRAM"]\nmodel = "m"\n'],
    ['an attached server', 'engine = "vllm"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'],
    [
      'a container',
      'engine = "vllm"\nrunner = "container"\nimage = "docker.io/vllm/vllm-openai:v0.10"\nmodel = "m"\n',
    ],
  ])('programs of engines: one that a slot runs by %s counts as found', async (_, text) => {
    const program = join(scratch(), 'vllm');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const slots = [slotOf('big', text.replace('PROGRAM', program))];
    const [found] = await engines(await factsOf({}, { slots }));
    expect(found?.message).toContain('vllm (slot big)');
    expect(found?.message).not.toMatch(/not installed:.*vllm/);
    const disabled = [slotOf('big', `enabled = false\n${text.replace('PROGRAM', program)}`)];
    expect((await engines(await factsOf({}, { slots: disabled })))[0]?.message).toMatch(
      /not installed:.*vllm/,
    );
  });

  it('reports a slot whose engine program is missing', async () => {
    const slots = [
      slotOf('x', 'engine = "custom"\ncommand = ["/nowhere/serve"]\nmodel = "m"\nrunner = "process"\n'),
    ];
    const found = await engines(await factsOf({}, { slots }));
    expect(found[0]?.message).toMatch(/^Found: /);
    expect(found[1]).toMatchObject({ status: 'fail', fix: 'Correct command in slots/x.toml.' });
  });

  it.each([
    ['version: 4589 (abc1234)', '4589'],
    ['eSpeak NG text-to-speech: 1.51  Data at: /x', '1.51'],
    ['ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026', null],
    ['FLM v0.9.21', '0.9.21'],
    ['no version', null],
  ])('finds the version in %j', (text, version) => {
    if (version === null) expect(versionIn(text)).not.toBe('2000');
    else expect(versionIn(text)).toBe(version);
  });
});
