import type { IncomingMessage } from 'node:http';
import type { Command, CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json } from '../output.ts';
import { deltaOf, sseData } from '../sse-reader.ts';

interface Message {
  role: 'user' | 'assistant';
  content: string;
}

async function stream(res: IncomingMessage, out: (text: string) => void): Promise<string> {
  let answer = '';
  for await (const data of sseData(res as AsyncIterable<Buffer>)) {
    if (data === '[DONE]') break;
    const delta = deltaOf(data);
    if (delta.error !== null) throw new CliError(delta.error);
    answer += delta.text;
    out(delta.text);
  }
  out('\n');
  return answer;
}

async function ask(context: CommandContext, messages: readonly Message[]): Promise<string> {
  const { client, flags, out } = context;
  const model = flags.model ?? 'agent';
  if (flags.json) {
    out(json(await client.call('v1.chat', { model, messages })));
    return '';
  }
  return stream(await client.open('v1.chat', { model, messages, stream: true }), out);
}

/** A conversation at the terminal; ends at the end of input. */
async function converse(context: CommandContext): Promise<number> {
  const messages: Message[] = [];
  for (;;) {
    const line = await context.prompt('> ');
    if (line === null) return EXIT.ok;
    if (line.trim() === '') continue;
    messages.push({ role: 'user', content: line });
    messages.push({ role: 'assistant', content: await ask(context, messages) });
  }
}

async function chat(context: CommandContext): Promise<number> {
  const words = context.args.join(' ').trim();
  const text = words || (await context.piped())?.trim() || '';
  if (text === '') return converse(context);
  await ask(context, [{ role: 'user', content: text }]);
  return EXIT.ok;
}

export const chatCommands: readonly Command[] = [
  {
    words: 'chat',
    usage: '[--model NAME] [TEXT]',
    summary: 'Ask a model; without TEXT a conversation',
    run: chat,
  },
];
