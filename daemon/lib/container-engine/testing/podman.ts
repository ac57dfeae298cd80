import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '../../testing/until.ts';

/** A real Podman for tests, with its own images, containers, network and API socket. */
export interface TestPodman {
  readonly socketPath: string;
  /** An image with Node and one program: `server.cjs` next to this file. */
  readonly image: string;
  /** Runs the podman command and returns its output. */
  run(...args: string[]): string;
  /** Stops the API service. Containers keep running. */
  closeSocket(): Promise<void>;
  openSocket(): Promise<void>;
  /** Stops and removes everything. */
  remove(): Promise<void>;
}

/** A Podman, or why it cannot run here. */
export type TriedPodman = { podman: TestPodman; obstacle: null } | { podman: null; obstacle: string };

const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/usr/sbin', '/usr/local/sbin'];
const installed = (name: string) => PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, name)));

/** Returns why Podman cannot run here, as far as that is known without a try. */
function missing(): string | null {
  if (process.platform !== 'linux') return 'containers need Linux';
  if (process.getuid?.() !== 0) return 'only root may publish ports of containers everywhere';
  for (const name of ['podman', 'tar']) if (!installed(name)) return `${name} is not installed`;
  if (!installed('runc') && !installed('crun')) return 'neither runc nor crun is installed';
  return null;
}

/** Writes limits that a host without CAP_SYS_RESOURCE permits, and a network that is not shared. */
function writeConfig(folder: string): string {
  const subnetNumber = randomInt(1, 255);
  const file = join(folder, 'containers.conf');
  const networks = join(folder, 'networks');
  mkdirSync(networks);
  writeFileSync(
    file,
    [
      '[containers]',
      'default_ulimits = ["nofile=4096:4096","nproc=8192:8192"]',
      '[network]',
      'network_backend = "netavark"',
      `network_config_dir = "${networks}"`,
      '[engine]',
      `runtime = "${installed('runc') ? 'runc' : 'crun'}"`,
      'cgroup_manager = "cgroupfs"',
      'events_logger = "file"',
      '',
    ].join('\n'),
  );
  const network = {
    name: 'podman',
    id: createHash('sha256').update(folder).digest('hex'),
    driver: 'bridge',
    network_interface: `svct${subnetNumber}`,
    created: '2026-01-01T00:00:00Z',
    subnets: [{ subnet: `10.213.${subnetNumber}.0/24`, gateway: `10.213.${subnetNumber}.1` }],
    ipv6_enabled: false,
    internal: false,
    dns_enabled: false,
    ipam_options: { driver: 'host-local' },
  };
  writeFileSync(join(networks, 'podman.json'), JSON.stringify(network));
  return file;
}

/** Writes the root of an image: Node, its shared libraries and the program. Needs no network. */
function writeRootfs(folder: string): string {
  const root = join(folder, 'rootfs');
  const node = realpathSync(process.execPath);
  const copyIn = (from: string, to = from) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(realpathSync(from), join(root, to));
  };
  copyIn(node, '/bin/node');
  const linked = execFileSync('ldd', [node], { encoding: 'utf8' });
  for (const [path] of linked.matchAll(/\/[^\s:]+(?= \()/g)) copyIn(path);
  copyIn(join(import.meta.dirname, 'server.cjs'), '/app/server.cjs');
  mkdirSync(join(root, 'tmp'));
  return root;
}

/**
 * Podman runs Debian's package manager for the version of each helper whenever it reports its own: 0.3 s for
 * data that no test reads. This stub fails at once.
 */
function writeNoPackages(folder: string): string {
  const programs = join(folder, 'no-packages');
  mkdirSync(programs);
  symlinkSync('/bin/false', join(programs, 'dpkg-query'));
  return programs;
}

class OwnPodman implements TestPodman {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-podman-'));
  readonly #env: Record<string, string>;
  readonly #flags: string[];
  #service: ChildProcess | null = null;
  readonly socketPath = join(this.#folder, 's');
  readonly image = 'localhost/stand-in:latest';

  constructor(insecureRegistry: string) {
    const at = (name: string) => join(this.#folder, name);
    this.#flags = ['--root', at('root'), '--runroot', at('run'), '--tmpdir', at('tmp')];
    writeFileSync(at('registries.conf'), `[[registry]]\nlocation = "${insecureRegistry}"\ninsecure = true\n`);
    this.#env = {
      PATH: [writeNoPackages(this.#folder), ...PROGRAM_FOLDERS].join(':'),
      HOME: this.#folder,
      CONTAINERS_CONF: writeConfig(this.#folder),
      CONTAINERS_REGISTRIES_CONF: at('registries.conf'),
    };
  }

  run(...args: string[]): string {
    return execFileSync('podman', [...this.#flags, ...args], {
      env: this.#env,
      encoding: 'utf8',
      timeout: 60_000,
    });
  }

  importImage(): void {
    const root = writeRootfs(this.#folder);
    const tar = join(this.#folder, 'image.tar');
    execFileSync('tar', ['-C', root, '-cf', tar, '.']);
    rmSync(root, { recursive: true });
    this.run('import', '-q', '-c', 'ENTRYPOINT ["/bin/node", "/app/server.cjs"]', tar, this.image);
    rmSync(tar);
  }

  async closeSocket(): Promise<void> {
    const service = this.#service;
    this.#service = null;
    if (service?.exitCode === null) {
      const over = once(service, 'exit');
      service.kill('SIGTERM');
      await over;
    }
    rmSync(this.socketPath, { force: true });
  }

  async openSocket(): Promise<void> {
    const args = [...this.#flags, 'system', 'service', '--time=0', `unix://${this.socketPath}`];
    this.#service = spawn('podman', args, { env: this.#env, stdio: 'ignore' });
    await until(() => existsSync(this.socketPath), 'the socket of podman');
  }

  async remove(): Promise<void> {
    spawnSync('podman', [...this.#flags, 'rm', '-fa', '-t', '0'], { env: this.#env, timeout: 60_000 });
    await this.closeSocket();
    spawnSync('umount', ['-l', join(this.#folder, 'root', 'overlay')]);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * Starts a Podman and runs one container. Returns the reason on a host where that is not possible. The
 * registry is accessed without TLS.
 */
export async function tryPodman(insecureRegistry = '127.0.0.1:1'): Promise<TriedPodman> {
  const obstacle = missing();
  if (obstacle !== null) return { podman: null, obstacle };
  const podman = new OwnPodman(insecureRegistry);
  try {
    podman.importImage();
    podman.run('run', '--rm', '-p', '127.0.0.1::8080', '--entrypoint', '/bin/node', podman.image, '-e', '0');
    await podman.openSocket();
    return { podman, obstacle: null };
  } catch (cause) {
    await podman.remove();
    const { stderr, message } = cause as Error & { stderr?: string };
    return {
      podman: null,
      obstacle: `podman fails: ${String(stderr ?? message)
        .trim()
        .slice(0, 300)}`,
    };
  }
}
