import type { EventStream } from '../event-stream.ts';
import type { Exchange } from '../http-server.ts';
import type { AnswerHead, Dialect } from './answer.ts';
import type { TextAnswer } from './read-answer.ts';

export interface StreamForm {
  dialect: Dialect;
  head: AnswerHead;
  includeUsage: boolean;
}

/** While a long prompt is read, a comment is sent at most this often: proof of work for whoever waits. */
const COMMENT_EVERY_MS = 10_000;

/**
 * Sends an answer as server-sent events. Refusals before the first event are thrown, so that they get a real status; a later
 * failure becomes an error event and the stream ends without `[DONE]`.
 */
export async function streamAnswer(
  exchange: Exchange,
  answer: AsyncGenerator<TextAnswer>,
  form: StreamForm,
): Promise<void> {
  const first = await answer.next();
  if (first.done) return;
  const stream = exchange.events();
  try {
    await sendAll(stream, answer, form);
  } catch (error) {
    stream.fail(error);
  } finally {
    await answer.return(undefined);
  }
}

async function sendAll(
  stream: EventStream,
  answer: AsyncIterable<TextAnswer>,
  form: StreamForm,
): Promise<void> {
  const { dialect, head, includeUsage } = form;
  const opening = dialect.opening(head);
  if (opening !== null) await stream.send(opening);
  let lastSent = performance.now();
  for await (const event of answer) {
    if (event.type === 'text') await stream.send(dialect.text(head, event.text));
    else if (event.type === 'call') await stream.send(dialect.toolCall(head, event.call, event.index));
    else if (event.type === 'progress' && performance.now() - lastSent > COMMENT_EVERY_MS) {
      await stream.comment('reading the prompt');
      lastSent = performance.now();
    } else if (event.type === 'done') {
      await stream.send(dialect.finish(head, event.finish, event.counts));
      if (includeUsage) await stream.send(dialect.usage(head, event.counts));
      stream.done();
    }
  }
}
