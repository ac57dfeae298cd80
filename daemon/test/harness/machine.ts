import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { until } from './gateway.ts';

export interface ShellResult {
  code: number | null;
  /** Standard output and error together. */
  text: string;
}

export interface MachineOptions {
  /** A folder that is mounted read-only at /shared. */
  readonly shared: string;
  /** More folders to mount read-only: the path here, and the path in the container. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Path of a network namespace for its network. Default: a new one without any connection. */
  readonly network?: string;
}

/** A container with its own systemd and a throw-away file system. */
export interface Machine {
  /** Runs a shell line as root in the container. */
  run(line: string, limitMs?: number): Promise<ShellResult>;
  /** Runs a line that must succeed. Returns its output, trimmed. */
  runOk(line: string, limitMs?: number): Promise<string>;
  /** Waits until a line exits with 0. */
  until(line: string, limitMs?: number): Promise<void>;
  powerOff(): Promise<void>;
}

/** The child of a process: the first process of the container. */
function childOf(pid: number): number | null {
  const children = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(pid);
    } catch {
      return false;
    }
  });
  return children.length > 0 ? Number(children[0]) : null;
}

function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-100_000);
    });
  }
  return () => text;
}

function runInside(leader: number, line: string, limitMs: number): Promise<ShellResult> {
  const child = spawn('nsenter', ['-t', String(leader), '-a', '--', 'sh', '-c', line], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C' },
  });
  const text = collect(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, text: text() });
    });
  });
}

/** Number of machines of this process. */
let count = 0;

/** Control groups in which a systemd of a container can run, by the kind of hierarchy. */
const CGROUP_ROOTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified'];

/** Shell lines that move the shell to control groups called `name`: two containers must not share one. */
const enterCgroups = (name: string): string =>
  CGROUP_ROOTS.map(
    (root) =>
      `! [ -e ${root}/cgroup.procs ] || { mkdir -p ${root}/${name}; echo $$ > ${root}/${name}/cgroup.procs; }`,
  ).join('\n');

/** Removes the control groups called `name`. They are empty when a container has ended. */
function removeCgroups(name: string): void {
  const folders = CGROUP_ROOTS.map((root) => `${root}/${name}`).filter(existsSync);
  if (folders.length > 0)
    spawnSync('find', [...folders, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
}

/** Boots `tree` without writing to it. */
export async function bootMachine(
  tree: string,
  { shared, folders = {}, network }: MachineOptions,
): Promise<Machine> {
  const name = `svctest${process.pid}-${count++}`;
  const args = ['-q', '-D', tree, '-M', name, '--register=no', '--keep-unit'];
  const options = [
    '--console=pipe',
    '--boot',
    '--volatile=overlay',
    network === undefined ? '--private-network' : `--network-namespace-path=${network}`,
    ...Object.entries({ [shared]: '/shared', ...folders }).map(
      ([here, there]) => `--bind-ro=${here}:${there}`,
    ),
  ];
  const enter = ['-ec', `${enterCgroups(name)}\nexec "$@"`, 'sh'];
  const nspawn = spawn('sh', [...enter, 'systemd-nspawn', ...args, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const console = collect(nspawn);
  const ended = new Promise<void>((resolve) => {
    nspawn.once('close', () => {
      removeCgroups(name);
      resolve();
    });
  });
  let leader = 0;
  const run = (line: string, limitMs = 30_000) => runInside(leader, line, limitMs);
  const state = /^(running|degraded)$/;
  try {
    await until(
      async () => {
        if (nspawn.exitCode !== null) throw new Error(`the container did not boot: ${console()}`);
        leader = childOf(nspawn.pid ?? 0) ?? 0;
        return leader > 0 && state.test((await run('systemctl is-system-running', 5_000)).text.trim());
      },
      'the container to boot',
      60_000,
    );
  } catch (error) {
    nspawn.kill('SIGKILL');
    throw error;
  }
  const runOk = async (line: string, limitMs?: number) => {
    const { code, text } = await run(line, limitMs);
    if (code !== 0) throw new Error(`${line}\nended with ${code}: ${text}`);
    return text.trim();
  };
  return {
    run,
    runOk,
    until: (line, limitMs = 30_000) => until(async () => (await run(line)).code === 0, line, limitMs),
    powerOff: async () => {
      process.kill(leader, 'SIGKILL');
      await ended;
    },
  };
}
