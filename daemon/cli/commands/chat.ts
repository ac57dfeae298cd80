import type { IncomingMessage } from 'node:http';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json, plain } from '../output.ts';
import { deltaOf, sseData } from '../sse-reader.ts';

interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** A model may load for minutes before the first byte. */
const CALL_OPTIONS = { timeoutMs: 600_000 };

const HELP =
  'Type a message and press Enter. Ctrl-D ends the conversation, Ctrl-C stops at once. Choose another model with svcctl chat --model NAME.\n';

const streamAborted = () => new CliError('the connection closed before the response ended', EXIT.unreachable);

async function* events(res: IncomingMessage): AsyncGenerator<string> {
  try {
    yield* sseData(res as AsyncIterable<Buffer>);
  } catch {
    throw streamAborted();
  }
}

/** Prints a streamed response. Throws CliError for an error event and for an incomplete stream. */
async function stream(res: IncomingMessage, out: (text: string) => void): Promise<string> {
  let answer = '';
  for await (const data of events(res)) {
    if (data === '[DONE]') {
      out('\n');
      return answer;
    }
    const delta = deltaOf(data);
    if (delta.error !== null) {
      if (answer !== '') out('\n');
      throw new CliError(delta.error.message, EXIT.failed, delta.error.code);
    }
    answer += delta.text;
    out(plain(delta.text));
  }
  throw streamAborted();
}

async function sendChat(context: CommandContext, messages: readonly Message[]): Promise<string> {
  const { client, flags, out } = context;
  const model = flags.model ?? 'agent';
  if (flags.json) {
    out(json(await client.call('v1.chat', { model, messages }, CALL_OPTIONS)));
    return '';
  }
  return stream(await client.open('v1.chat', { model, messages, stream: true }, CALL_OPTIONS), out);
}

/** A conversation at the terminal; ends at the end of input. */
async function converse(context: CommandContext): Promise<number> {
  const messages: Message[] = [];
  for (;;) {
    const line = await context.prompt('> ');
    if (line === null) return EXIT.ok;
    if (line.trim() === '') continue;
    if (line.trim() === '/help') {
      context.out(HELP);
      continue;
    }
    messages.push({ role: 'user', content: line });
    messages.push({ role: 'assistant', content: await sendChat(context, messages) });
  }
}

export async function chat(context: CommandContext, ...texts: string[]): Promise<number> {
  const words = texts.join(' ').trim();
  if (words !== '') {
    await sendChat(context, [{ role: 'user', content: words }]);
    return EXIT.ok;
  }
  const piped = await context.readPiped();
  if (piped === null) return converse(context);
  if (piped.trim() === '') throw new CliError('the text is missing: svcctl chat "Hello"', EXIT.usage);
  await sendChat(context, [{ role: 'user', content: piped.trim() }]);
  return EXIT.ok;
}
