/**
 * The Debian package in a systemd-nspawn container with a real systemd: installation, restarts, upgrades and purge
 * (docs/spec/contract.md#names).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawnPng } from '../../../daemon/test/harness/drawn-png.ts';
import { firstDifference } from '../../../daemon/test/harness/env-texts.ts';
import { bootMachine, type Machine } from '../../../daemon/test/harness/machine.ts';
import { fuzzing } from '../../../daemon/test/harness/scale.ts';
import { freshTree, whyNoContainer } from '../../../daemon/test/harness/tree.ts';
import { buildDeb } from '../../../scripts/package/build.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const reason = whyNoContainer();
if (reason !== null)
  console.warn(`SKIPPED, the installed service is not tested under a real systemd: ${reason}.`);

const SCHEMA = /^var MIGRATIONS = \[.*?^\];$/ms;
const LATER =
  "\nMIGRATIONS.push({ version: MIGRATIONS.at(-1).version + 1, name: 'later', sql: 'CREATE TABLE later (x TEXT) STRICT' });\n";

/** This release, and a later one with another schema. */
async function packages(out: string): Promise<{ now: string; later: string }> {
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const common = { root, out, arch, compression: 'gzip', date: 1_700_000_000 } as const;
  const now = await buildDeb(common);
  const edit = (text: string) => (SCHEMA.test(text) ? text.replace(SCHEMA, (found) => found + LATER) : null);
  const later = await buildDeb({ ...common, version: '99.0.0', edit });
  return { now: `/shared/${basename(now)}`, later: `/shared/${basename(later)}` };
}

const URL = 'http://127.0.0.1:8080';
const CHAT = `curl -sf ${URL}/v1/chat/completions -H 'content-type: application/json' -d '{"model":"agent","messages":[{"role":"user","content":"Hello"}]}'`;
const ACTIVE = 'systemctl is-active --quiet svc-gateway';

const PAINTER_PORT = 18_099;

/** STAND-IN for an upstream that draws: its images are PNG, whatever the request says. */
function painterProgram(): string {
  const image = drawnPng({ width: 64, height: 64, seed: 1 }).toString('base64');
  const models = { object: 'list', data: [{ id: 'painter-1', object: 'model' }] };
  const answer = { created: 1, data: [{ b64_json: image }] };
  return `import { createServer } from 'node:http';
const [models, answer] = ${JSON.stringify([models, answer])};
createServer((req, res) => {
  req.resume();
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify(req.method === 'POST' ? answer : models));
}).listen(${PAINTER_PORT}, '127.0.0.1');
`;
}

describe.skipIf(reason !== null)('the service', () => {
  let folder = '';
  let machine: Machine;
  let debs = { now: '', later: '' };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-packages-'));
    debs = await packages(folder);
    machine = await bootMachine(freshTree(), { shared: folder });
  }, 600_000);
  afterAll(async () => {
    await machine?.powerOff();
    rmSync(folder, { recursive: true, force: true });
  });

  const property = (name: string) => machine.runOk(`systemctl show -P ${name} svc-gateway`);
  const number = async (name: string) => Number(await property(name));
  const journal = () => machine.runOk('journalctl -u svc-gateway -o cat --no-pager | tail -c 60000');
  /** One hash over all bytes, names, owners and modes of the configuration. */
  const configuration = () =>
    machine.runOk("cd /etc/svc && find . -printf '%p %U %G %m\\n' -type f -exec sha256sum {} + | sort");
  const restarted = async (before: number) => {
    await machine.until(
      `[ "$(systemctl show -P NRestarts svc-gateway)" -gt ${before} ] && ${ACTIVE}`,
      60_000,
    );
  };

  it('R18 systemd reads environment files like the gateway', async () => {
    expect(await firstDifference(machine, folder, fuzzing('environment files', 100_000))).toBeNull();
  }, 240_000);

  it('is ready after the installation, with its own user and a private key file', async () => {
    await machine.runOk(`dpkg -i ${debs.now}`, 120_000);
    await machine.runOk(ACTIVE);
    expect(await property('StatusText')).toMatch(/^\d+ slots?: /);
    expect(await machine.runOk("stat -c '%a %U %G' /etc/svc/api.env")).toBe('600 svc svc');
    expect(await machine.runOk('id -nG svc')).toMatch(/\brender\b.*\bvideo\b|\bvideo\b.*\brender\b/);
    expect(await machine.runOk('ps -o user= -p $(systemctl show -P MainPID svc-gateway)')).toBe('svc');
    expect(await machine.runOk('systemctl is-enabled svc-gateway')).toBe('enabled');
    expect((await machine.run('systemctl is-enabled svc-gateway.socket')).text.trim()).toBe('disabled');
    expect(await machine.runOk('dpkg --verify svc-gateway; svc-gateway --version')).not.toContain('/usr/');
    await machine.runOk('test -s /usr/share/man/man8/svc-gateway.8.gz');
    await machine.runOk(
      'systemd-analyze verify --recursive-errors=no --man=no svc-gateway.service svc-gateway.socket',
    );
  }, 180_000);

  it('answers the first chat, from an engine that runs as the service user', async () => {
    expect(await machine.runOk(CHAT, 90_000)).toContain('demonstration');
    const users = await machine.runOk('ps -eo user=,args= | grep [l]lama-main');
    expect(users.split('\n').every((line) => line.startsWith('svc '))).toBe(true);
  }, 120_000);

  it('draws with an upstream that makes PNG, and converts its image to JPEG and WebP', async () => {
    writeFileSync(join(folder, 'painter.mjs'), painterProgram());
    writeFileSync(join(folder, 'painter.toml'), `base_url = "http://127.0.0.1:${PAINTER_PORT}/v1"\n`);
    const node = '/usr/lib/svc-gateway/bin/node';
    await machine.runOk(`systemd-run --unit painter ${node} /shared/painter.mjs`, 30_000);
    await machine.runOk('install -o svc -g svc -m 600 /shared/painter.toml /etc/svc/upstreams/');
    await machine.until(`curl -sf ${URL}/v1/models | grep -q painter-1`, 60_000);
    const draw = (format: string) =>
      machine.runOk(
        `curl -sf ${URL}/v1/images/generations -H 'content-type: application/json' -d '{"model":"painter-1","prompt":"a cat","output_format":"${format}"}'`,
        90_000,
      );
    const [jpeg, webp] = [await draw('jpeg'), await draw('webp')].map((text) => {
      const { data } = JSON.parse(text) as { data: { b64_json: string }[] };
      return Buffer.from(data[0]?.b64_json ?? '', 'base64');
    });
    expect(jpeg?.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    expect(webp?.toString('latin1', 0, 4)).toBe('RIFF');
    expect(webp?.toString('latin1', 8, 12)).toBe('WEBP');
    await machine.runOk('systemctl stop painter && rm /etc/svc/upstreams/painter.toml', 30_000);
    await machine.until(`! curl -sf ${URL}/v1/models | grep -q painter-1`, 60_000);
  }, 240_000);

  it('a rotated key and a browser session survive a restart', async () => {
    await machine.runOk('svcctl auth rotate admin --force');
    expect(await machine.runOk("stat -c '%a %U %G' /etc/svc/api.env")).toBe('600 svc svc');
    const login = `sed -n 's/^SVC_ADMIN_KEY=//p' /etc/svc/api.env | sed 's/.*/{"key":"&"}/' | curl -sf -c /root/jar -H 'content-type: application/json' -d @- ${URL}/api/auth/login`;
    await machine.runOk(login);
    const tier = `curl -sf -b /root/jar ${URL}/api/auth/status`;
    expect(await machine.runOk(tier)).toContain('"tier":"admin"');
    await machine.runOk('systemctl restart svc-gateway', 90_000);
    expect(await machine.runOk(tier)).toContain('"tier":"admin"');
    expect(await machine.runOk('svcctl auth status --json')).toContain('admin');
    expect(await machine.runOk('svcctl config')).toMatch(
      /Configuration \/etc\/svc\nAnswered by +the running gateway\n/,
    );
    expect(await journal()).not.toContain(
      await machine.runOk("sed -n 's/^SVC_ADMIN_KEY=//p' /etc/svc/api.env"),
    );
  }, 150_000);

  it('the companion is off by default; when enabled it gets the client key in a private file', async () => {
    expect((await machine.run('systemctl is-enabled svc-companion')).text.trim()).toBe('disabled');
    expect((await machine.run('systemctl is-active svc-companion')).text.trim()).toBe('inactive');
    await machine.runOk('svcctl auth rotate client --force && svcctl auth require on');
    // STAND-IN for Podman: stores its arguments, sends a request like the container, and leaves a process running.
    const standIn = [
      '#!/bin/sh',
      '[ "$1" = run ] || { pkill -f "[s]leep 54321"; exit 0; }',
      'echo "$@" > /run/podman-arguments',
      '. /run/svc-companion/env',
      'curl -s -o /dev/null -w "%{http_code}" -H "authorization: Bearer $OPENAI_API_KEY" $OPENAI_API_BASE_URL/audio/voices > /run/podman-answer',
      'sleep 54321 & systemd-notify --ready "MAINPID=$!"',
    ];
    writeFileSync(join(folder, 'podman'), `${standIn.join('\n')}\n`);
    await machine.runOk(
      'install -m 755 /shared/podman /usr/bin/podman && systemctl start svc-companion',
      60_000,
    );
    expect(await machine.runOk('systemctl is-active svc-companion')).toBe('active');
    expect(await machine.runOk("stat -c '%a %U' /run/svc-companion /run/svc-companion/env")).toBe(
      '700 root\n600 root',
    );
    expect(await machine.runOk("stat -c '%a %U %G' /etc/svc/companion.env")).toBe('600 svc svc');
    const key = await machine.runOk("sed -n 's/^SVC_CLIENT_KEY=//p' /etc/svc/api.env");
    expect(await machine.runOk('cat /run/podman-arguments')).toMatch(
      / ghcr\.io\/open-webui\/open-webui:v[\d.]+$/,
    );
    expect(
      await machine.runOk('cat /run/podman-arguments; journalctl -u svc-companion -o cat --no-pager'),
    ).not.toContain(key);
    expect(await machine.runOk('cat /run/podman-answer')).toBe('200');
    await machine.until(`curl -sf ${URL}/api/config/urls | grep -q '"companion_enabled":true'`);
    await machine.runOk('systemctl stop svc-companion && rm /usr/bin/podman', 60_000);
    expect((await machine.run('test -e /run/svc-companion')).code).toBe(1);
    await machine.runOk('svcctl auth require off');
  }, 150_000);

  it('reloads without a restart', async () => {
    const main = await property('MainPID');
    await machine.runOk('printf \'[observability]\\nlog_level = "debug"\\n\' >> /etc/svc/config.toml');
    await machine.runOk('systemctl reload svc-gateway');
    await machine.until(`${ACTIVE} && curl -sf ${URL}/api/health`);
    expect(await property('MainPID')).toBe(main);
  }, 60_000);

  it('waits for an address that appears after its start', async () => {
    await machine.runOk('echo SVC_BIND_HOST=10.66.0.1 >> /etc/svc/api.env');
    await machine.runOk('systemctl restart --no-block svc-gateway');
    await machine.until(
      'journalctl -u svc-gateway -o cat | tail -n 5 | grep -q "does not have this address yet"',
      60_000,
    );
    await machine.runOk('ip addr add 10.66.0.1/32 dev lo');
    await machine.until(`${ACTIVE} && curl -sf http://10.66.0.1:8080/api/health`, 30_000);
    await machine.runOk(
      "sed -i '/^SVC_BIND_HOST=/d' /etc/svc/api.env && systemctl restart svc-gateway",
      90_000,
    );
  }, 150_000);

  it('is restarted after SIGKILL, without an engine of the previous run', async () => {
    await machine.runOk(CHAT, 90_000);
    const before = await number('NRestarts');
    const engines = (await machine.runOk('pgrep -f [l]lama-main')).split('\n');
    await machine.runOk('systemctl kill -s KILL --kill-who=main svc-gateway');
    await restarted(before);
    for (const pid of engines) expect((await machine.run(`kill -0 ${pid}`)).code).not.toBe(0);
    expect(await machine.runOk(CHAT, 90_000)).toContain('demonstration');
  }, 180_000);

  it('keeps models on another disk by the drop-in of docs/guide/systemd.md', async () => {
    const unit = '/run/systemd/system/svc-gateway.service.d';
    await machine.runOk('install -d -o svc -g svc -m 0700 /srv/models');
    await machine.runOk(
      `mkdir -p ${unit} && printf '[Service]\\nBindPaths=/srv/models:/var/lib/svc/models\\n' > ${unit}/test.conf`,
    );
    await machine.runOk('systemctl daemon-reload && systemctl restart svc-gateway', 90_000);
    // The folder is empty, so the gateway creates its demonstration model again, which tests a write.
    await machine.until('[ -n "$(find /srv/models -type f -user svc)" ]', 60_000);
    await machine.runOk(`rm -r ${unit} && systemctl daemon-reload && systemctl restart svc-gateway`, 90_000);
  }, 240_000);

  it('feeds the watchdog, and is killed by it when the main loop hangs', async () => {
    const unit = '/run/systemd/system/svc-gateway.service.d';
    await machine.runOk(
      `mkdir -p ${unit} && printf '[Service]\\nWatchdogSec=6s\\nTimeoutAbortSec=1s\\n' > ${unit}/test.conf`,
    );
    await machine.runOk('systemctl daemon-reload && systemctl restart svc-gateway', 90_000);
    const fed = await number('WatchdogTimestampMonotonic');
    const started = await number('ExecMainStartTimestampMonotonic');
    await machine.until(
      `[ $(systemctl show -P WatchdogTimestampMonotonic svc-gateway) -gt $((${started} + 8000000)) ]`,
      60_000,
    );
    expect(await number('WatchdogTimestampMonotonic')).toBeGreaterThan(fed);
    const before = await number('NRestarts');
    await machine.runOk('systemctl kill -s STOP --kill-who=main svc-gateway');
    await restarted(before);
    expect(await journal()).toContain("Failed with result 'watchdog'");
    await machine.runOk(`rm -r ${unit} && systemctl daemon-reload && systemctl restart svc-gateway`, 90_000);
  }, 180_000);

  it('refuses no connection during a restart when systemd holds the listener', async () => {
    await machine.runOk(
      'systemctl stop svc-gateway && systemctl start svc-gateway.socket svc-gateway',
      90_000,
    );
    const code = `curl -s -o /dev/null -w '%{http_code} %{errormsg}\\n' --max-time 60 ${URL}/api/health`;
    await machine.runOk(
      `rm -f /run/codes /run/enough; (while [ ! -e /run/enough ]; do ${code} >> /run/codes; done; touch /run/finished) >/dev/null 2>&1 &`,
    );
    const more = (count: number) =>
      machine.until(`[ $(wc -l < /run/codes) -ge $(( $(cat /run/seen) + ${count} )) ]`, 60_000);
    for (const _ of [1, 2]) {
      await machine.runOk('touch /run/codes; wc -l < /run/codes > /run/seen');
      await more(20);
      await machine.runOk('systemctl restart svc-gateway', 90_000);
      await machine.runOk('wc -l < /run/codes > /run/seen');
      await more(20);
    }
    await machine.runOk('touch /run/enough');
    await machine.until('[ -e /run/finished ]', 70_000);
    expect(await machine.runOk('sort /run/codes | uniq -c | sed "s/^ *[0-9]* //"')).toBe('200');
    await machine.runOk(CHAT, 90_000);
    const engine = '$(pgrep -f [l]lama-main | head -1)';
    const listening = `ss -Hltnp 'sport = :8080'`;
    expect(await machine.runOk(listening)).not.toContain(`pid=${await machine.runOk(`echo ${engine}`)},`);
    await machine.runOk(
      'systemctl stop svc-gateway.socket svc-gateway && systemctl start svc-gateway',
      90_000,
    );
  }, 240_000);

  it('an upgrade preserves the configuration byte for byte and backs up the database before its migration', async () => {
    await machine.runOk(
      "install -o svc -g svc -m 0640 /dev/null /etc/svc/slots/mine.toml && echo '# mine' > /etc/svc/slots/mine.toml",
    );
    const before = await configuration();
    await machine.runOk(`dpkg -i ${debs.later}`, 120_000);
    await machine.runOk(ACTIVE);
    expect(await machine.runOk(`curl -sf ${URL}/api/health`)).toContain('"version":"99.0.0"');
    expect(await configuration()).toBe(before);
    await machine.runOk('test -s /var/lib/svc/svc.db.before-migration');
    expect(await machine.runOk(`curl -sf -b /root/jar ${URL}/api/auth/status`)).toContain('"tier":"admin"');
  }, 180_000);

  it('an upgrade succeeds when api.env is a symlink', async () => {
    await machine.runOk('cd /etc/svc && mv api.env keys.env && ln -s keys.env api.env');
    const before = await configuration();
    await machine.runOk(`dpkg -i ${debs.later}`, 120_000);
    await machine.runOk(ACTIVE);
    expect(await configuration()).toBe(before);
    await machine.runOk('cd /etc/svc && mv keys.env api.env');
  }, 150_000);

  it('enabled units start again: the listener after a restore, and all after a removal and reinstallation', async () => {
    const held = () => machine.runOk("ss -Hltnp 'sport = :8080' | grep -c '\"systemd\",pid=1,'");
    await machine.runOk('systemctl stop svc-gateway', 90_000);
    await machine.runOk('systemctl enable --now svc-gateway.socket && systemctl start svc-gateway', 90_000);
    expect(await held()).toBe('1');
    // As described in docs/guide/backup.md.
    await machine.runOk('systemctl stop svc-gateway svc-gateway.socket', 90_000);
    await machine.runOk('systemctl start svc-gateway', 90_000);
    expect(await held()).toBe('1');
    await machine.runOk('systemctl enable svc-companion && dpkg -r svc-gateway', 90_000);
    await machine.runOk(`dpkg -i ${debs.later}`, 120_000);
    await machine.runOk(ACTIVE);
    expect(await held()).toBe('1');
    // There is no Podman, so the start fails.
    await machine.until('journalctl -u svc-companion -o cat | tail -n 4 | grep -q "Failed to"');
    await machine.runOk('systemctl disable --now svc-companion');
    await machine.runOk('systemctl stop svc-gateway && systemctl disable --now svc-gateway.socket', 90_000);
    await machine.runOk('systemctl start svc-gateway', 90_000);
  }, 300_000);

  it('the previous release refuses the newer database in one line and does not change it', async () => {
    const sum = 'sha256sum < /var/lib/svc/svc.db';
    await machine.runOk('systemctl stop svc-gateway', 90_000);
    const before = await machine.runOk(sum);
    const { text } = await machine.run(`dpkg -i --force-downgrade ${debs.now}`, 180_000);
    expect(text).toContain('journalctl -u svc-gateway');
    await machine.until('[ "$(systemctl show -P ActiveState svc-gateway)" = failed ]', 90_000);
    expect(await journal()).toMatch(/The database has schema \d+; this release knows schemas up to \d+\./);
    expect(await machine.runOk(sum)).toBe(before);
    await machine.runOk(`systemctl reset-failed svc-gateway; dpkg -i ${debs.later}`, 180_000);
    await machine.runOk(ACTIVE);
  }, 300_000);

  it('remove stops it and keeps configuration and state; purge removes all our files', async () => {
    const before = await configuration();
    await machine.runOk('dpkg -r svc-gateway', 90_000);
    expect((await machine.run(ACTIVE)).code).not.toBe(0);
    expect(await configuration()).toBe(before);
    await machine.runOk('test -s /var/lib/svc/svc.db');
    // A mount point cannot be removed; the purge continues.
    await machine.runOk('mkdir /var/lib/svc/disk && mount -t tmpfs disk /var/lib/svc/disk');
    expect(await machine.runOk('dpkg -P svc-gateway', 60_000)).toContain('something of /var/lib/svc');
    await machine.runOk('umount /var/lib/svc/disk && rmdir /var/lib/svc/disk /var/lib/svc');
    const left = await machine.runOk(
      "find /etc /var /usr /lib /run -xdev \\( -name 'svc' -o -name 'svc-gateway*' -o -name 'svc-companion*' -o -name 'svcctl*' \\) -not -path '/usr/share/doc-base/*'; true",
    );
    expect(left).toBe('');
    expect((await machine.run('pgrep -u svc')).code).toBe(1);
  }, 120_000);
});
