import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses } from './marked-processes.ts';
import { killGroup, lastLine } from './program.ts';

const MAX_OUTPUT = 200_000;
const MARK = 'SVC_TEST_ISOLATED';
const LAUNCHER = join(import.meta.dirname, 'loopback-launcher.mjs');
const ENTER = ['--net', '--', 'sh', '-c', '"$0" link set lo up || exit 1; exec "$@"'];

export interface IsolatedOptions {
  /** Ports of this machine's loopback that the program reaches at the same port of its own. */
  readonly ports: readonly number[];
  /** Ports of the program that this machine's loopback reaches at the same port. */
  readonly serves?: readonly number[];
  /** Its whole environment, apart from PATH and HOME. */
  readonly env: Readonly<Record<string, string>>;
  /** Its home folder. */
  readonly home: string;
  readonly cwd: string;
  /** The process group is killed after this time. */
  readonly limitMs: number;
}

/** How a program ended. `code` is null when a signal ended it. */
export interface Ending {
  readonly code: number | null;
  readonly isLate: boolean;
}

export interface IsolatedProgram {
  /** Whether it runs in its own network. */
  readonly isSeparate: boolean;
  /** The number of attempts to reach anything outside of its network; null when it has none of its own, or has ended. */
  unroutable(): number | null;
  /** Its standard output and error so far. */
  output(): string;
  /** Its standard output so far. */
  stdout(): string;
  /** Sends a signal to its process group, as a terminal does. */
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ending>;
}

/** Whether programs can be started without any network: as root, with iproute2 (`SVC_TEST_IP`). */
function canSeparate(ip: string | undefined): ip is string {
  if (!ip) return false;
  return spawnSync('unshare', [...ENTER, ip, 'true'], { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

/** Forwards both directions until one side ends. */
function joined(client: Socket, remote: Socket): void {
  remote.setNoDelay(true);
  client.pipe(remote).pipe(client);
  client.on('error', () => remote.destroy());
  client.on('close', () => remote.destroy());
  remote.on('error', () => client.destroy());
  remote.on('close', () => client.destroy());
}

const listening = (server: Server, listen: () => void): Promise<Server> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => resolve(server));
    listen();
  });

/** A Unix socket that leads to a port of the loopback. */
function socketTo(port: number, path: string): Promise<Server> {
  const server = createServer((client) => joined(client, connect(port, '127.0.0.1')));
  return listening(server, () => server.listen(path));
}

/** Listens on a port of the loopback and connects each client to a Unix socket. */
function portTo(path: string, port: number): Promise<Server> {
  const server = createServer((client) => joined(client, connect(path)));
  return listening(server, () => server.listen(port, '127.0.0.1'));
}

/** Packets and connections without a route in the network of a process (`OutNoRoutes`), for IPv4 and IPv6. */
function unroutableOf(pid: number | undefined): number | null {
  const read = (file: string) => readFileSync(`/proc/${pid}/net/${file}`, 'utf8');
  try {
    const [names = [], values = []] = read('snmp')
      .split('\n')
      .filter((line) => line.startsWith('Ip: '))
      .map((line) => line.split(' '));
    const six = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(read('snmp6'))?.[1] ?? '0';
    return Number(values[names.indexOf('OutNoRoutes')]) + Number(six);
  } catch {
    return null;
  }
}

/**
 * Starts a program that reaches nothing but the given ports: it runs in its own network namespace where this is
 * permitted, otherwise with the network of this machine. It has no standard input and is the leader of a process group.
 */
export async function startIsolated(
  command: readonly string[],
  { ports, serves = [], env, home, cwd, limitMs }: IsolatedOptions,
): Promise<IsolatedProgram> {
  const ip = process.env.SVC_TEST_IP;
  const isSeparate = canSeparate(ip);
  const folder = mkdtempSync(join(tmpdir(), 'svc-sockets-'));
  const pathOf = (port: number) => join(folder, String(port));
  const servers = isSeparate
    ? await Promise.all([
        ...ports.map((port) => socketTo(port, pathOf(port))),
        ...serves.map((port) => portTo(pathOf(port), port)),
      ])
    : [];
  const bridges = [
    ...ports.map((port) => `${port}=${pathOf(port)}`),
    ...serves.map((port) => `${pathOf(port)}=${port}`),
  ].join(',');
  const launch = [process.execPath, LAUNCHER, bridges, ...command];
  const [program = '', ...args] = isSeparate ? ['unshare', ...ENTER, ip, ...launch] : command;
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, [MARK]: folder, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const release = () => {
    // Helpers that the program left behind end with it, in other process groups too: Cline starts one.
    killGroup(child.pid);
    for (const pid of markedProcesses(`${MARK}=${folder}`)) endProcess(pid);
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const unroutable = () => (isSeparate ? unroutableOf(child.pid) : null);
  const network = { isSeparate, unroutable };
  return {
    ...network,
    ...collected(child),
    ended: endOf(child, limitMs).finally(release),
    signal: signaller(child),
  };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const signaller = (child: ChildProcess) => (name: NodeJS.Signals) => {
  if (child.pid === undefined || child.exitCode !== null) return;
  process.kill(-child.pid, name);
};

function collected(child: ChildProcess): Pick<IsolatedProgram, 'output' | 'stdout'> {
  let [stdout, output] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout = (stdout + chunk.toString('utf8')).slice(-MAX_OUTPUT);
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT);
    });
  }
  return { output: () => output, stdout: () => stdout };
}

function endOf(child: ChildProcess, limitMs: number): Promise<Ending> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
    }, limitMs);
    child.once('error', (error) => {
      clearTimeout(limit);
      reject(error);
    });
    // `exit`, not `close`: a helper of the program may hold its output open.
    child.once('exit', (code) => {
      clearTimeout(limit);
      resolve({ code, isLate });
    });
  });
}

/** Throws with the end of the output when a program did not end with 0 in time. */
export async function endWell(program: IsolatedProgram): Promise<string> {
  const { code, isLate } = await program.ended;
  if (code === 0 && !isLate) return program.stdout();
  const reason = isLate ? 'no end within its time limit' : `ended with ${code}`;
  throw new Error(`${reason}: ${lastLine(program.output())}\n${program.output().slice(-4_000)}`);
}
