import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DAEMON, type Gateway, until } from '../../../daemon/test/harness/gateway.ts';
import { type IsolatedProgram, startIsolated } from '../harness/isolated.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';

const MINUTE = 60_000;
const RUN_LIMIT_MS = 25 * MINUTE;
const START_LIMIT_MS = 6 * MINUTE;
/** What the command `open-webui` of the package runs. */
const SERVE = 'import open_webui; open_webui.app()';

/** Returns the interpreter of the environment with Open WebUI. Throws `Unavailable`. */
export const openWebui = (): Promise<string> =>
  pythonEnvironment({
    name: 'open-webui',
    lock: join(import.meta.dirname, 'open-webui-requirements.txt'),
    limitMs: 15 * MINUTE,
  });

/** The variables that svc-companion.service passes to its container: the gateway writes them at the first start. */
async function companionVariables(gateway: Gateway, port: number): Promise<Record<string, string>> {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-companion-')), 'env');
  const env = {
    PATH: process.env.PATH,
    SVC_HOME: gateway.home,
    SVC_PORT: String(gateway.port),
    SVC_OWUI_PORT: String(port),
    SVC_REQUIRE_AUTH: 'on',
  };
  await promisify(execFile)(process.execPath, [DAEMON, 'companion-env', file], { env });
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

export interface OpenWebui {
  readonly port: number;
  readonly program: IsolatedProgram;
}

/**
 * Starts Open WebUI with the variables of the companion, nothing added but its folder, and waits until it is ready. It
 * reaches the gateway and nothing else.
 */
export async function startOpenWebui(python: string, gateway: Gateway, port: number): Promise<OpenWebui> {
  const variables = await companionVariables(gateway, port);
  const home = mkdtempSync(join(tmpdir(), 'svc-open-webui-'));
  const program = await startIsolated([python, '-c', SERVE, 'serve', '--port', String(port)], {
    ports: [gateway.port],
    serves: [port],
    env: { ...variables, DATA_DIR: join(home, 'data') },
    home,
    cwd: home,
    limitMs: RUN_LIMIT_MS,
  });
  let hasEnded = false;
  void program.ended.finally(() => {
    hasEnded = true;
  });
  await until(
    async () => {
      if (hasEnded) throw new Error(`Open WebUI has ended: ${program.output().slice(-4_000)}`);
      const answer = await fetch(`http://127.0.0.1:${port}/health`, {
        signal: AbortSignal.timeout(5_000),
      }).catch(() => null);
      await answer?.body?.cancel();
      return answer?.status === 200;
    },
    'Open WebUI to be ready',
    START_LIMIT_MS,
  );
  return { port, program };
}
