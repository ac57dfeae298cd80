/**
 * The command lines of svc-companion.service in a real Podman, with a stand-in for Open WebUI
 * (docs/spec/contract.md#companion). Without Podman the stand-in is a process.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tryPodman } from '../../../daemon/lib/container-engine/testing/podman.ts';
import { freePort } from '../../../daemon/slots/runners/ports.ts';
import {
  ADMIN_KEY,
  CLIENT_KEY,
  DAEMON,
  KEYS_FILE,
  QUIET_FILE,
  startGateway,
  until,
} from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const STAND_IN = join(root, 'daemon', 'test', 'harness', 'companion-stand-in.cjs');
const { podman, obstacle } = await tryPodman();
if (podman === null)
  console.warn(`SKIPPED with a real Podman, the companion is a process instead: ${obstacle}`);

interface Urls {
  companion: string | null;
  companion_enabled: boolean;
}
interface Observed {
  models: { status: number; ids: string[] };
  voices: { status: number };
  argv: string;
}

const folder = mkdtempSync(join(tmpdir(), 'svc-companion-'));
const envFile = join(folder, 'env');
let port = 0;
let child: ChildProcess | null = null;

beforeAll(async () => {
  port = await freePort();
});
afterAll(async () => {
  await podman?.remove();
  rmSync(folder, { recursive: true, force: true });
});
const gateway = new OneGateway(async () =>
  startGateway({
    files: { ...QUIET_FILE, 'config/api.env': `${KEYS_FILE['config/api.env']}SVC_OWUI_PORT=${port}\n` },
    env: { SVC_REQUIRE_AUTH: 'on', SVC_PORT: String(await freePort()) },
  }),
);
afterEach(() => {
  child?.kill('SIGKILL');
  podman?.run('rm', '-fa', '-t', '0');
});

/** The command of one line of the unit, its continuation lines joined. */
function unitLine(key: string): string[] {
  const unit = readFileSync(join(root, 'systemd', 'svc-companion.service'), 'utf8').replaceAll('\\\n', ' ');
  const line = new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  return line.trim().split(/\s+/);
}

/** The `ExecStartPre` steps of the unit. */
async function prepare(): Promise<string> {
  const [program, ...args] = unitLine('ExecStartPre');
  expect(program).toBe('/usr/bin/svc-gateway');
  const podmanArgs = args.map((each) => each.replace('/run/svc-companion/env', envFile));
  const env = {
    PATH: process.env.PATH,
    SVC_HOME: gateway.home,
    SVC_REQUIRE_AUTH: 'on',
    SVC_PORT: String(gateway.port),
  };
  const { stdout } = await promisify(execFile)(process.execPath, [DAEMON, ...podmanArgs], { env });
  return stdout;
}

/** Needs the systemd that starts the unit. */
const OF_SYSTEMD = /^--(cgroups|log-driver)=/;

/** The unit's podman with the stand-in's image; without Podman the same environment for a process. */
function start(): void {
  if (podman === null) {
    const lines = readFileSync(envFile, 'utf8').trim().split('\n');
    const env = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    child = spawn(process.execPath, [STAND_IN], { env, stdio: 'inherit' });
    return;
  }
  const [program, ...args] = unitLine('ExecStart').filter((word) => !OF_SYSTEMD.test(word));
  expect(program).toBe('/usr/bin/podman');
  expect(args.at(-1)).toMatch(/^\$\{SVC_OWUI_IMAGE\}$/);
  const words = args.slice(0, -1).map((each) => each.replace('/run/svc-companion/env', envFile));
  const standIn = [
    `--volume=${STAND_IN}:/app/companion.cjs:ro`,
    '--entrypoint=["/bin/node","/app/companion.cjs"]',
  ];
  expect(words.join(' ')).not.toContain(CLIENT_KEY);
  podman.run(...words, ...standIn, podman.image);
}

async function observed(): Promise<Observed> {
  let found: Observed | null = null;
  await until(async () => {
    found = await send({ port }, 'GET', '/seen').then(
      (answer) => answer.json<Observed>(),
      () => null,
    );
    return found !== null;
  }, 'the companion');
  return found as unknown as Observed;
}
const urls = async () => (await send(gateway, 'GET', '/api/config/urls')).json<Urls>();
const warning = async () => {
  const { warnings } = (await send(gateway, 'GET', '/api/status', { key: ADMIN_KEY })).json<{
    warnings: { id: string; message: string }[];
  }>();
  return warnings.find(({ id }) => id === 'companion')?.message;
};

describe('the companion', () => {
  it('is not installed by default', async () => {
    expect(await urls()).toMatchObject({ companion: null, companion_enabled: false });
    expect(await warning()).toBeUndefined();
  });

  it('the first start creates companion.env from the bind choice, and a private file with the client key', async () => {
    expect(await prepare()).toBe('');
    const seeded = join(gateway.home, 'config', 'companion.env');
    const text = readFileSync(seeded, 'utf8');
    expect(text).toContain(`\nSVC_OWUI_BIND_HOST=127.0.0.1\nSVC_OWUI_PORT=${port}\n`);
    expect(text).not.toContain(CLIENT_KEY);
    for (const path of [seeded, envFile]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(envFile, 'utf8')).toContain(`\nOPENAI_API_KEY=${CLIENT_KEY}\n`);
    writeFileSync(seeded, `${text}# mine\n`);
    await prepare();
    expect(readFileSync(seeded, 'utf8')).toBe(`${text}# mine\n`);
  });

  it('uses the models with the client key while keys are required; its address is reported', async () => {
    await prepare();
    start();
    const { models, voices, argv } = await observed();
    expect(models.status).toBe(200);
    expect(models.ids).toContain('agent');
    expect(voices.status).toBe(200);
    expect(argv).not.toContain(CLIENT_KEY);
    await until(async () => (await urls()).companion !== null, 'its address');
    expect(await urls()).toMatchObject({ companion: `http://127.0.0.1:${port}/`, companion_enabled: true });
    expect(await warning()).toBeUndefined();
  });

  it('after a rotation of the client key it needs a restart, as the response says', async () => {
    start();
    expect((await observed()).voices.status).toBe(200);
    const rotated = await send(gateway, 'POST', '/api/auth/rotate', {
      key: ADMIN_KEY,
      body: { tier: 'client' },
    });
    expect(rotated.json<{ note: string }>().note).toContain('restart svc-companion');
    expect((await observed()).voices.status).toBe(401);
    child?.kill('SIGKILL');
    podman?.run('rm', '-fa', '-t', '0');
    expect(await prepare()).toBe('');
    start();
    await until(async () => (await observed()).voices.status === 200, 'the new key');
  });

  it('without a client key the start and the dashboard show the next step; none is created automatically', async () => {
    const keys = join(gateway.home, 'config', 'api.env');
    writeFileSync(keys, `SVC_ADMIN_KEY=${ADMIN_KEY}\nSVC_OWUI_PORT=${port}\n`);
    expect(await prepare()).toContain('svcctl auth rotate client, then restart svc-companion');
    expect(readFileSync(envFile, 'utf8')).not.toContain('OPENAI_API_KEY');
    await until(async () => (await warning()) !== undefined, 'the warning');
    expect(await warning()).toContain('no client key is set');
    expect(readFileSync(keys, 'utf8')).not.toContain('SVC_CLIENT_KEY');
  });

  it('a symlink instead of the private file is not followed', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'mine');
    rmSync(envFile, { force: true });
    symlinkSync(target, envFile);
    await expect(prepare()).rejects.toThrow(/can't be written \(ELOOP\)/);
    expect(readFileSync(target, 'utf8')).toBe('mine');
    rmSync(envFile);
  });
});
