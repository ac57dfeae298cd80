import { randomUUID } from 'node:crypto';
import type { Exchange, Routes } from '../http-server.ts';
import type { WorkerConfig } from '../protocol.ts';
import { type AnswerHead, CHAT, COMPLETION, type Dialect } from './answer.ts';
import { chatRequest } from './chat-request.ts';
import { completionRequest } from './completion-request.ts';
import type { ChatEngine } from './engine.ts';
import { readAnswer, type TextAnswer } from './read-answer.ts';
import type { AnswerRequest } from './request.ts';
import { streamAnswer } from './stream-answer.ts';

/** What a chat worker serves once its model is loaded. */
export function chatRoutes(engine: ChatEngine, config: WorkerConfig): Routes {
  const created = Math.floor(Date.now() / 1000);
  return {
    'GET /v1/models': async (exchange) => exchange.json(200, modelList(engine, config, created)),
    'POST /v1/chat/completions': async (exchange) => {
      const request = chatRequest(await exchange.body());
      const tokens = engine.chatTokens(request);
      const answer = readAnswer(
        engine.answer(tokens, request.generation, exchange.signal),
        request.tools !== null,
      );
      await reply(exchange, answer, request, CHAT, newHead('chatcmpl', config.modelId));
    },
    'POST /v1/completions': async (exchange) => {
      const request = completionRequest(await exchange.body());
      const tokens = engine.textTokens(request.prompt);
      const answer = readAnswer(engine.answer(tokens, request.generation, exchange.signal), false);
      await reply(exchange, answer, request, COMPLETION, newHead('cmpl', config.modelId));
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

async function reply(
  exchange: Exchange,
  answer: AsyncGenerator<TextAnswer>,
  request: AnswerRequest,
  dialect: Dialect,
  head: AnswerHead,
): Promise<void> {
  if (request.stream)
    return streamAnswer(exchange, answer, { dialect, head, includeUsage: request.includeUsage });
  const whole: Parameters<Dialect['whole']>[1] = {
    text: '',
    calls: [],
    finish: 'stop',
    counts: { promptTokens: 0, cachedTokens: 0, completionTokens: 0, promptMs: 0, predictedMs: 0 },
  };
  for await (const event of answer) {
    if (event.type === 'text') whole.text += event.text;
    else if (event.type === 'call') whole.calls.push(event.call);
    else if (event.type === 'done') {
      whole.finish = event.finish;
      whole.counts = event.counts;
      exchange.json(200, dialect.whole(head, whole));
    }
  }
}

function modelList(engine: ChatEngine, config: WorkerConfig, created: number): object {
  const { context, contextTrain, size } = engine.facts;
  const meta = { n_ctx: context, n_ctx_train: contextTrain, size };
  return { object: 'list', data: [{ id: config.modelId, object: 'model', created, owned_by: 'svc', meta }] };
}
