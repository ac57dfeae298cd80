import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { makeCertificate } from '../../lib/testing/certificate.ts';
import { freePort } from '../../slots/runners/ports.ts';
import { until } from './gateway.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'packaging', 'proxy');

/** A real proxy with the shipped example. Only addresses and certificate paths are replaced. */
export interface RealProxy {
  /** TLS port, for the host name `localhost`. */
  readonly port: number;
  /** The certificate authority that callers must trust. */
  readonly ca: string;
  /** The access log; empty for a proxy without one. */
  accessLog(): string;
  stop(): Promise<void>;
}

/** Replaces texts of an example. Throws when one is absent. */
function example(name: string, changes: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(EXAMPLES, name), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`${name} no longer holds "${from}"`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const acceptsConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Whether the server presents a certificate of this authority. */
const completesHandshake = (port: number, ca: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = tlsConnect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('secureConnect', () => socket.destroy());
  });

/** Starts the program in `folder` and waits until it accepts connections. Returns its stop function. */
async function startProxy(command: string, args: string[], folder: string, port: number) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child: ChildProcess = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
    });
  }
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${output}`);
    return acceptsConnections(port);
  }, command);
  return async () => {
    child.kill('SIGTERM');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Starts nginx with the example included as from conf.d. `more` has further replacements. */
export async function startNginx(
  binary: string,
  gateway: number,
  more: Readonly<Record<string, string>> = {},
): Promise<RealProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'));
  const at = (name: string) => join(folder, name);
  const port = await freePort();
  const certificate = makeCertificate(folder);
  if (certificate === null) throw new Error('there is no openssl to make a certificate with');
  const changes = {
    '127.0.0.1:8080': `127.0.0.1:${gateway}`,
    'listen 443 ssl http2;': `listen 127.0.0.1:${port} ssl http2;`,
    'gateway.example.com': 'localhost',
    '/etc/ssl/gateway.crt': at('cert'),
    '/etc/ssl/gateway.key': at('key'),
    '/var/log/nginx/svc-gateway.log': at('access.log'),
    ...more,
  };
  writeFileSync(at('site.conf'), example('nginx.conf', changes));
  const tempFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = [
    'daemon off;',
    process.getuid?.() === 0 ? 'user root;' : '',
    `pid ${at('pid')};`,
    'events {}',
    `http { ${tempFolders.map((name) => `${name}_temp_path ${at(name)};`).join(' ')} include ${at('site.conf')}; }`,
  ];
  writeFileSync(at('nginx.conf'), main.join('\n'));
  const stop = await startProxy(
    binary,
    ['-p', folder, '-e', at('error.log'), '-c', at('nginx.conf')],
    folder,
    port,
  );
  return {
    port,
    ca: certificate.cert.toString('utf8'),
    accessLog: () => readFileSync(at('access.log'), 'utf8'),
    stop,
  };
}

/** Starts Caddy with its own authority. Global options above the example isolate it from the rest of this machine. */
export async function startCaddy(binary: string, gateway: number): Promise<RealProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-caddy-'));
  const port = await freePort();
  const site = example('Caddyfile', {
    '127.0.0.1:8080': `127.0.0.1:${gateway}`,
    'gateway.example.com': `https://localhost:${port}`,
  });
  const globalOptions = '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n';
  writeFileSync(join(folder, 'Caddyfile'), globalOptions + site);
  const args = ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  const stop = await startProxy(binary, args, folder, port);
  const root = join(folder, 'caddy', 'pki', 'authorities', 'local', 'root.crt');
  await until(() => existsSync(root), "Caddy's authority");
  const ca = readFileSync(root, 'utf8');
  await until(() => completesHandshake(port, ca), "Caddy's certificate");
  return { port, ca, accessLog: () => '', stop };
}
