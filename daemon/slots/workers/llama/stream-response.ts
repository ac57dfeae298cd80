import type { EventStream } from '../event-stream.ts';
import type { RequestContext } from '../http-server.ts';
import type { AnswerHead, Dialect, Part } from './chat-response.ts';
import type { AnswerEvent } from './choices.ts';

export interface StreamForm {
  dialect: Dialect;
  head: AnswerHead;
  includeUsage: boolean;
}

/**
 * Minimum interval of comments while a long prompt is evaluated, which show the client that the request makes
 * progress.
 */
const COMMENT_EVERY_MS = 10_000;

/**
 * Sends an answer as server-sent events. Throws refusals before the first event, so that they get a status
 * code. A later failure becomes an error event, and the stream ends without `[DONE]`.
 */
export async function streamAnswer(
  exchange: RequestContext,
  answer: AsyncGenerator<AnswerEvent>,
  form: StreamForm,
): Promise<void> {
  const first = await answer.next();
  if (first.done) return;
  const stream = exchange.events();
  try {
    await new AnswerStream(stream, form).run(answer);
  } catch (error) {
    stream.fail(error);
  } finally {
    await answer.return(undefined);
  }
}

/**
 * Opens each choice together with its first piece, so that the first chunk shows that the prompt is complete.
 */
class AnswerStream {
  readonly #stream: EventStream;
  readonly #form: StreamForm;
  #opened = -1;
  /** Length of the text of the current choice. */
  #length = 0;
  #lastComment = performance.now();

  constructor(stream: EventStream, form: StreamForm) {
    this.#stream = stream;
    this.#form = form;
  }

  async run(answer: AsyncIterable<AnswerEvent>): Promise<void> {
    const { dialect, head, includeUsage } = this.#form;
    for await (const event of answer) {
      if (event.type === 'progress') await this.#comment();
      else if (event.type === 'pieces') await this.#pieces(event);
      else if (event.type === 'choice') {
        await this.#open(event.choice);
        await this.#stream.send(dialect.finish(head, event.choice, event));
      } else if (event.type === 'done') {
        if (includeUsage) await this.#stream.send(dialect.usage(head, event.counts));
        this.#stream.done();
      }
    }
  }

  async #open(choice: number): Promise<void> {
    if (this.#opened >= choice) return;
    this.#opened = choice;
    this.#length = 0;
    const opening = this.#form.dialect.opening(this.#form.head, choice);
    if (opening !== null) await this.#stream.send(opening);
  }

  async #pieces({ choice, pieces, logprobs }: AnswerEvent & { type: 'pieces' }): Promise<void> {
    await this.#open(choice);
    const last = pieces.length - 1;
    for (const [i, piece] of pieces.entries()) {
      await this.#part({ choice, piece, logprobs: i === last ? logprobs : null, offset: this.#length });
      if (piece.type === 'text') this.#length += piece.text.length;
    }
    if (last < 0 && logprobs !== null && logprobs.length > 0)
      await this.#part({ choice, piece: null, logprobs, offset: this.#length });
  }

  async #part(part: Part): Promise<void> {
    await this.#stream.send(this.#form.dialect.part(this.#form.head, part));
  }

  async #comment(): Promise<void> {
    if (performance.now() - this.#lastComment <= COMMENT_EVERY_MS) return;
    await this.#stream.comment('reading the prompt');
    this.#lastComment = performance.now();
  }
}
