import { remoteHostOf } from '../lib/net/remote-host.ts';
import { trustedUsers, untrustedListener } from '../lib/net/untrusted-listener.ts';
import { exitOnBrokenPipe } from '../lib/process/broken-pipe.ts';
import { runningAddress } from '../settings/running-address.ts';
import { type Client, createClient } from './client.ts';
import type { CommandContext } from './command.ts';
import { parseCommandLine } from './command-line.ts';
import {
  type Credential,
  configFolder,
  credential,
  gatewayUrl,
  keyAdvice,
  readEnvFile,
  serviceFolders,
  settingsEnvironment,
  stateFolder,
} from './config-paths.ts';
import { EXIT } from './exit-codes.ts';
import { plain } from './output.ts';
import { report } from './report.ts';
import { outputWidth, readPiped, Terminal, writeBytes } from './terminal.ts';

/**
 * Runs a sub-command of the daemon in this process: another process would take as long as the whole command.
 */
async function runDaemon(args: readonly string[], namedUrl: string | null): Promise<number> {
  const { run: daemon } = await import('../app/run.ts');
  const env = args[0] === 'config' ? settingsEnvironment(process.env, namedUrl) : process.env;
  await daemon(args, { ...env, ...serviceFolders(process.env) });
  return Number(process.exitCode ?? EXIT.ok);
}

const sent: { credential: Credential | null } = { credential: null };

/** The gateway that the command talks to, with the key that is sent to it. `namedUrl` is null for this machine's own. */
function connection(namedUrl: string | null) {
  const folder = configFolder(process.env);
  const file = readEnvFile(folder);
  const state = stateFolder(process.env);
  const running = namedUrl === null ? runningAddress(state) : null;
  const url = gatewayUrl(namedUrl ?? undefined, process.env, { running, file, folder });
  const foreign = namedUrl === null ? null : remoteHostOf(namedUrl);
  const untrustedHost = foreign ?? untrustedListener(url, trustedUsers([file.path, state]));
  sent.credential = credential(process.env, file, untrustedHost);
  const advice = keyAdvice(file, sent.credential, untrustedHost);
  if (advice !== null) process.stderr.write(`svcctl: ${plain(advice)}\n`);
  return { url, key: sent.credential?.key ?? null };
}

async function main(argv: readonly string[]): Promise<number> {
  const line = parseCommandLine(argv);
  if ('text' in line) {
    process.stdout.write(line.text);
    return line.exitCode;
  }
  const { flags, args } = line;
  const run = await line.load();
  const terminal = new Terminal();
  let client: Client | null = null;
  const namedUrl = flags.url ?? (process.env.SVC_URL || null);
  const context: CommandContext = {
    get client() {
      client ??= createClient(connection(namedUrl));
      return client;
    },
    namedUrl,
    flags,
    width: outputWidth(flags, process.stdout, process.env.COLUMNS),
    statusWidth: outputWidth({}, process.stderr, process.env.COLUMNS) - 1,
    out: (text) => process.stdout.write(text),
    outBytes: process.stdout.isTTY ? null : writeBytes,
    status: (text) => terminal.status(text),
    get isInteractive() {
      return terminal.isInteractive;
    },
    confirm: async (question) => {
      const answer = await terminal.prompt(`${question} [y/N] `);
      return answer === null ? null : /^y(es)?$/i.test(answer.trim());
    },
    readPiped,
    prompt: (label) => terminal.prompt(label),
    promptHidden: (label) => terminal.promptHidden(label),
    daemon: (words) => runDaemon(words, namedUrl),
  };
  try {
    return await run(context, ...args);
  } finally {
    terminal.close();
  }
}

/** Runs svcctl: the outcome is its output and the exit code of the process. Never rejects. */
export async function run(argv: readonly string[]): Promise<void> {
  exitOnBrokenPipe('svcctl');
  try {
    process.exitCode = await main(argv);
  } catch (error) {
    const { text, exitCode } = report(error, { json: argv.includes('--json'), credential: sent.credential });
    process.stderr.write(text);
    process.exitCode = exitCode;
  }
}
