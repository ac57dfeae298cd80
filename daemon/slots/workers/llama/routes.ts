import { randomUUID } from 'node:crypto';
import { CONVERSATION_HEADER } from '../../../contract/conversation-reasons.ts';
import { conversationHeader } from '../../../contract/conversation-state.ts';
import { headerList, IGNORED_HEADER } from '../../../contract/ignored.ts';
import type { RequestContext, Routes } from '../http-server.ts';
import type { WorkerConfig } from '../protocol.ts';
import { chatJob, countTokens } from './chat-job.ts';
import { chatRequest } from './chat-request.ts';
import { type AnswerHead, CHAT, COMPLETION, type Dialect } from './chat-response.ts';
import { type AnswerJob, answerChoices } from './choices.ts';
import { completionJob } from './completion-job.ts';
import { completionRequest } from './completion-request.ts';
import type { ChatEngine } from './engine.ts';
import { wholeAnswer } from './full-response.ts';
import { modelList } from './model-list.ts';
import type { AnswerRequest } from './request.ts';
import { streamAnswer } from './stream-response.ts';
import { styledCalls } from './tools/call-style.ts';

/** Routes of a chat worker once its model is loaded. */
export function chatRoutes(engine: ChatEngine, config: WorkerConfig): Routes {
  const created = Math.floor(Date.now() / 1000);
  const reply = async (
    exchange: RequestContext,
    orders: AnswerJob,
    request: AnswerRequest,
    { dialect, head }: { dialect: Dialect; head: AnswerHead },
  ): Promise<void> => {
    let isNamed = false;
    // Of several prompts the first is named: the response has begun before the others are read.
    const onConversation: AnswerJob['onConversation'] = (state) => {
      if (!isNamed) exchange.header(CONVERSATION_HEADER, conversationHeader(state));
      isNamed = true;
    };
    const job = { ...orders, onConversation };
    const answer = styledCalls(
      answerChoices((order, signal) => engine.answer(order, signal), job, exchange.signal),
      orders.callStyle,
    );
    if (orders.relaxed.length > 0) exchange.header(IGNORED_HEADER, headerList(orders.relaxed));
    if (request.stream)
      return streamAnswer(exchange, answer, { dialect, head, includeUsage: request.includeUsage });
    const whole = await wholeAnswer(answer);
    if (whole !== null) exchange.json(200, dialect.whole(head, whole.choices, whole.counts));
  };
  return {
    'GET /v1/models': async (exchange) => exchange.json(200, modelList(engine.info, config, created)),
    'POST /v1/chat/completions': async (exchange) => {
      const request = chatRequest(await exchange.body(), engine.sampling);
      const head = newHead('chatcmpl', config.modelId);
      const job = await chatJob(engine, request, exchange.signal);
      await reply(exchange, job, request, { dialect: CHAT, head });
    },
    'POST /v1/chat/completions/input_tokens': async (exchange) => {
      const request = chatRequest(await exchange.body());
      const input_tokens = await countTokens(engine, request, exchange.signal);
      exchange.json(200, { object: 'response.input_tokens', input_tokens });
    },
    'POST /v1/completions': async (exchange) => {
      const request = completionRequest(await exchange.body(), engine.sampling);
      const head = newHead('cmpl', config.modelId);
      await reply(exchange, completionJob(engine, request), request, { dialect: COMPLETION, head });
    },
  };
}

function newHead(prefix: string, model: string): AnswerHead {
  return {
    id: `${prefix}-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}
