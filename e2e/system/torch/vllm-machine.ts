import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bootMachine, type Machine } from '../../../daemon/test/harness/machine.ts';
import { freshTree } from '../../../daemon/test/harness/tree.ts';
import { NetworkMachine } from '../harness/network-machine.ts';
import { type TinyVllm, vllmVariables, writeVersion } from './vllm-environment.ts';

const PACKAGES = [
  'openssh-server',
  'sudo',
  // Libraries that Python and vLLM load.
  'libffi8',
  'libgomp1',
  'libnuma1',
  'libreadline8',
  'libsqlite3-0',
];
/** Where the guide has the environment of vLLM. */
const ENVIRONMENT = '/opt/vllm';
const MODEL = '/opt/model';

/** The user who logs in on such a machine, and may restart vLLM there. */
export const ADMIN = 'admin';

/** The folder with the Python from which the environment of `python` was made. */
export function basePrefix(python: string): string {
  const settings = readFileSync(join(dirname(dirname(python)), 'pyvenv.cfg'), 'utf8');
  const home = /^home = (.+)$/m.exec(settings)?.[1];
  if (home === undefined) throw new Error(`the environment of ${python} names no Python`);
  return dirname(home);
}

export interface VllmMachineOptions extends TinyVllm {
  /** A systemd unit whose `ExecStart` ends with the options of `vllm serve`. */
  readonly unit: string;
  readonly key: string;
  /** The public key of the user who may log in. */
  readonly publicKey: string;
  /** The processor that vLLM computes on. By default each would take the same one. */
  readonly processor: number;
}

/** A separate machine: a network namespace, a Debian with systemd and sshd, and vLLM as the service `vllm`. */
export class VllmMachine {
  readonly #network: NetworkMachine;
  readonly #machine: Machine;
  readonly #shared: string;

  private constructor(network: NetworkMachine, machine: Machine, shared: string) {
    this.#network = network;
    this.#machine = machine;
    this.#shared = shared;
  }

  /** Boots the machine and starts vLLM, which is not ready yet. */
  static async boot({
    python,
    model,
    unit,
    key,
    publicKey,
    processor,
  }: VllmMachineOptions): Promise<VllmMachine> {
    const network = await NetworkMachine.create();
    const shared = mkdtempSync(join(tmpdir(), 'svc-vllm-'));
    writeVersion(join(shared, 'version'));
    const variables = {
      VLLM_API_KEY: key,
      ...vllmVariables('/shared/version'),
      VLLM_CPU_OMP_THREADS_BIND: String(processor),
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(shared, 'vllm.env'), lines.join(''), { mode: 0o600 });
    writeFileSync(join(shared, 'vllm.service'), unit);
    writeFileSync(join(shared, 'key.pub'), publicKey);
    const base = basePrefix(python);
    const environment = dirname(dirname(python));
    // vLLM runs as a user there, and these folders are private.
    for (const folder of [environment, shared]) chmodSync(folder, 0o755);
    const folders = { [environment]: ENVIRONMENT, [model]: '/mnt/model', [base]: base };
    let machine: Machine | null = null;
    try {
      machine = await bootMachine(freshTree(PACKAGES), { shared, folders, network: network.namespace });
      await install(machine, base);
      return new VllmMachine(network, machine, shared);
    } catch (error) {
      await machine?.powerOff();
      await network.remove();
      rmSync(shared, { recursive: true, force: true });
      throw error;
    }
  }

  get address(): string {
    return this.#network.address;
  }

  /** The public key of its sshd. */
  hostKey = (): Promise<string> => this.#machine.runOk('cat /etc/ssh/ssh_host_ed25519_key.pub');

  /** How often systemd has started vLLM again after a failure. */
  restarts = async (): Promise<number> =>
    Number(await this.#machine.runOk('systemctl show -P NRestarts vllm'));

  /** The id of the running vLLM, in the machine. */
  pid = (): Promise<string> => this.#machine.runOk('systemctl show -P MainPID vllm');

  /** The end of the log of vLLM. */
  log = async (): Promise<string> => (await this.#machine.run('journalctl -u vllm -o cat -n 80')).text;

  async remove(): Promise<void> {
    await this.#machine.powerOff();
    await this.#network.remove();
    rmSync(this.#shared, { recursive: true, force: true });
  }
}

/** Makes the users, sshd's key and the service, and starts it. */
async function install(machine: Machine, base: string): Promise<void> {
  const parents = [];
  for (let folder = dirname(base); folder !== '/'; folder = dirname(folder)) parents.push(folder);
  const home = `/home/${ADMIN}`;
  const lines = [
    // The interpreter may be below a home folder.
    ...parents.map((folder) => `chmod o+x ${folder}`),
    `cp -r /mnt/model ${MODEL} && chmod -R a+rX ${MODEL}`,
    'useradd --system --create-home vllm',
    `useradd --create-home --shell /bin/bash ${ADMIN}`,
    `install -d -m 700 -o ${ADMIN} ${home}/.ssh`,
    `install -m 600 -o ${ADMIN} /shared/key.pub ${home}/.ssh/authorized_keys`,
    `echo '${ADMIN} ALL=(root) NOPASSWD: /usr/bin/systemctl restart vllm' > /etc/sudoers.d/vllm`,
    'install -m 600 /shared/vllm.env /etc/vllm.env',
    'install -m 644 /shared/vllm.service /etc/systemd/system/vllm.service',
    'systemctl daemon-reload',
    'systemctl enable --now vllm',
    'systemctl is-active ssh',
  ];
  for (const line of lines) await machine.runOk(line);
}

/** The unit of the guide for the tiny model on a CPU, under the name that the guide uses. */
export function unitOnCpu(unit: string, context: number): string {
  const [whole, name] = /^ExecStart=\S+ serve (\S+) .*$/m.exec(unit) ?? [];
  if (whole === undefined || name === undefined) throw new Error('the unit has no `vllm serve MODEL`');
  const size = `--max-model-len ${context} --max-num-seqs 8 --dtype float32 --enforce-eager`;
  return unit.replace(whole, `${whole.replace(name, MODEL)} --served-model-name ${name} ${size}`);
}

/** A home folder for ssh: its key, and the machines that it knows. */
export function writeSshHome(
  home: string,
  privateKey: string,
  hosts: Readonly<Record<string, string>>,
): void {
  const folder = join(home, '.ssh');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'id_ed25519'), privateKey, { mode: 0o600 });
  writeFileSync(join(folder, 'config'), `User ${ADMIN}\nBatchMode yes\n`, { mode: 0o600 });
  const known = Object.entries(hosts).map(([host, key]) => `${host} ${key}\n`);
  writeFileSync(join(folder, 'known_hosts'), known.join(''), { mode: 0o600 });
}
