import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { parseCommandLine } from './arguments.ts';
import { createClient } from './client.ts';
import type { Command, CommandContext } from './command.ts';
import { authCommands } from './commands/auth.ts';
import { chatCommands } from './commands/chat.ts';
import { explainCommands } from './commands/explain.ts';
import { statusCommands } from './commands/status.ts';
import { upstreamCommands } from './commands/upstreams.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { type Credential, configFolder, credential, gatewayUrl, readEnvFile } from './places.ts';
import { report } from './report.ts';

const COMMANDS: readonly Command[] = [
  ...authCommands,
  ...statusCommands,
  ...explainCommands,
  ...upstreamCommands,
  ...chatCommands,
];

function help(): string {
  const rows = COMMANDS.map(
    ({ words, usage, summary }) => `  ${`svcctl ${words} ${usage}`.trim().padEnd(46)} ${summary}`,
  );
  const codes = Object.entries(EXIT).map(([name, code]) => `${code} ${name}`);
  return `svcctl: talks to a running svc-gateway

${rows.join('\n')}

Options: --json (machine-readable), --url ADDRESS (else SVC_URL, else the configured address), --force
Keys:    SVC_ADMIN_KEY, SVC_CLIENT_KEY, then api.env. A key is never taken as an argument.
Exit:    ${codes.join(', ')}
`;
}

function choose(words: readonly string[]): Command {
  const found = COMMANDS.find(({ words: name }) =>
    name.split(' ').every((word, index) => words[index] === word),
  );
  if (!found) throw new CliError(`there is no command "${words.join(' ')}". See svcctl --help.`, EXIT.usage);
  return found;
}

function runDaemon(args: readonly string[]): Promise<number> {
  const main = join(import.meta.dirname, '..', 'main.ts');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: 'inherit' });
    child.on('error', () => resolve(EXIT.failed));
    child.on('exit', (code) => resolve(code ?? EXIT.failed));
  });
}

const MOST_PIPED = 1 << 20;

async function readPiped(): Promise<string | null> {
  if (process.stdin.isTTY) return null;
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > MOST_PIPED) throw new CliError('more than 1 MiB was piped in', EXIT.usage);
  }
  return text;
}

/** The terminal of this process; opened at the first question. */
class Terminal {
  #open: Interface | null = null;

  async ask(label: string): Promise<string | null> {
    if (!process.stdin.isTTY) return null;
    this.#open ??= createInterface({ input: process.stdin, output: process.stderr });
    const lines = this.#open;
    const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
    return Promise.race([lines.question(label).catch(() => null), closed]);
  }

  close(): void {
    this.#open?.close();
  }
}

const sent: { credential: Credential | null } = { credential: null };

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(argv);
  if (values.help || positionals.length === 0 || positionals[0] === 'help') {
    process.stdout.write(help());
    return positionals.length === 0 && !values.help ? EXIT.usage : EXIT.ok;
  }
  const command = choose(positionals);
  const folder = configFolder(process.env);
  const file = readEnvFile(folder);
  sent.credential = credential(process.env, file);
  if (sent.credential === null && file.unreadable) {
    process.stderr.write(`svcctl: ${file.path} may not be read; use sudo, or set SVC_ADMIN_KEY.\n`);
  }
  const terminal = new Terminal();
  const url = gatewayUrl(values.url, process.env, file, folder);
  const context: CommandContext = {
    client: createClient({ url, key: sent.credential?.key ?? null }),
    args: positionals.slice(command.words.split(' ').length),
    flags: { json: values.json, force: values.force, model: values.model, path: values.path },
    out: (text) => process.stdout.write(text),
    confirm: async (question) => {
      const answer = await terminal.ask(`${question} [y/N] `);
      return answer === null ? null : /^y(es)?$/i.test(answer.trim());
    },
    piped: readPiped,
    prompt: (label) => terminal.ask(label),
    daemon: runDaemon,
  };
  try {
    return await command.run(context);
  } finally {
    terminal.close();
  }
}

process.stdout.on('error', () => process.exit(EXIT.ok));
const argv = process.argv.slice(2);
try {
  process.exitCode = await main(argv);
} catch (error) {
  const { text, exitCode } = report(error, { json: argv.includes('--json'), credential: sent.credential });
  process.stderr.write(text);
  process.exitCode = exitCode;
}
