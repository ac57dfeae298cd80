import type { Command } from './command.ts';

type Loader = () => Promise<readonly Command[]>;

/** Loaders of the commands, by first word. */
const LOADERS: Readonly<Record<string, readonly Loader[]>> = {
  auth: [async () => (await import('./commands/auth.ts')).authCommands],
  backup: [maintenance],
  chat: [async () => (await import('./commands/chat.ts')).chatCommands],
  completion: [async () => (await import('./commands/completion.ts')).completionCommands],
  config: [status],
  doctor: [maintenance],
  embed: [async () => (await import('./commands/embed.ts')).embedCommands],
  events: [logs],
  explain: [async () => (await import('./commands/explain.ts')).explainCommands],
  hardware: [machine],
  image: [async () => (await import('./commands/image.ts')).imageCommands],
  logs: [logs],
  models: [
    async () => (await import('./commands/models.ts')).modelCommands,
    async () => (await import('./commands/pulls.ts')).pullCommands,
  ],
  requests: [async () => (await import('./commands/requests.ts')).requestCommands],
  restore: [maintenance],
  slots: [
    async () => (await import('./commands/slots.ts')).slotCommands,
    async () => (await import('./commands/slot-files.ts')).slotFileCommands,
    logs,
  ],
  speak: [sound],
  status: [status],
  transcribe: [sound],
  upstreams: [async () => (await import('./commands/upstreams.ts')).upstreamCommands],
  usage: [machine],
};

async function maintenance(): Promise<readonly Command[]> {
  return (await import('./commands/maintenance.ts')).maintenanceCommands;
}

async function logs(): Promise<readonly Command[]> {
  return (await import('./commands/logs.ts')).logCommands;
}

async function machine(): Promise<readonly Command[]> {
  return (await import('./commands/machine.ts')).machineCommands;
}

async function sound(): Promise<readonly Command[]> {
  return (await import('./commands/sound.ts')).soundCommands;
}

async function status(): Promise<readonly Command[]> {
  return (await import('./commands/status.ts')).statusCommands;
}

/**
 * Returns the commands that begin with `word`, or the whole table when none does. Most of the time of a short
 * command is module loading, so only the modules it needs are loaded.
 */
export async function commandsFor(word: string): Promise<readonly Command[]> {
  if (!Object.hasOwn(LOADERS, word)) return (await import('./table.ts')).COMMANDS;
  const read = await Promise.all((LOADERS[word] ?? []).map((reader) => reader()));
  return read.flat().filter(({ words }) => words === word || words.startsWith(`${word} `));
}
