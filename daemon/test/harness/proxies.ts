import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { freePort } from '../../slots/runners/ports.ts';
import { makeCertificate } from './certificate.ts';
import { until } from './gateway.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'packaging', 'proxy');

/** A real proxy with the shipped example, in which addresses and paths of certificates are others and nothing else. */
export interface RealProxy {
  /** Port of its TLS side, for the host name `localhost`. */
  readonly port: number;
  /** Whom callers trust. */
  readonly ca: string;
  /** What it wrote about its callers; empty where it keeps no log. */
  accessLog(): string;
  stop(): Promise<void>;
}

/** Puts other texts into an example; every one of them must stand there. */
function example(name: string, changes: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(EXAMPLES, name), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`${name} no longer holds "${from}"`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Whether it shows a certificate that callers trust. */
const handshakes = (port: number, ca: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = tlsConnect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('secureConnect', () => socket.destroy());
  });

/** Starts the program in a folder of its own and waits until it takes connections. */
async function started(command: string, args: string[], folder: string, port: number) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child: ChildProcess = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-20_000);
    });
  }
  const over = new Promise<void>((done) => child.once('close', () => done()));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${said}`);
    return answers(port);
  }, command);
  return async () => {
    child.kill('SIGTERM');
    await over;
    rmSync(folder, { recursive: true, force: true });
  };
}

/** nginx reads the example as it would from conf.d; `more` changes it further. */
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
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = [
    'daemon off;',
    process.getuid?.() === 0 ? 'user root;' : '',
    `pid ${at('pid')};`,
    'events {}',
    `http { ${places.map((each) => `${each}_temp_path ${at(each)};`).join(' ')} include ${at('site.conf')}; }`,
  ];
  writeFileSync(at('nginx.conf'), main.join('\n'));
  const stop = await started(
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

/** Caddy with an authority of its own; the options above the example keep it from the rest of this machine. */
export async function startCaddy(binary: string, gateway: number): Promise<RealProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-caddy-'));
  const port = await freePort();
  const site = example('Caddyfile', {
    '127.0.0.1:8080': `127.0.0.1:${gateway}`,
    'gateway.example.com': `https://localhost:${port}`,
  });
  const alone = '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n';
  writeFileSync(join(folder, 'Caddyfile'), alone + site);
  const args = ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
  const stop = await started(binary, args, folder, port);
  const root = join(folder, 'caddy', 'pki', 'authorities', 'local', 'root.crt');
  await until(() => existsSync(root), "Caddy's authority");
  const ca = readFileSync(root, 'utf8');
  await until(() => handshakes(port, ca), "Caddy's certificate");
  return { port, ca, accessLog: () => '', stop };
}
