import type { SlotRecord } from '../../../../daemon/contract/slots.ts';
import { CHATML } from '../../../../daemon/models/testing/gguf/chat-templates.ts';
import { tinyChat } from '../../../../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../../../daemon/models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../../../../daemon/models/testing/gguf/tiny-rerank.ts';
import type { GgufModel } from '../../../../daemon/models/testing/gguf/writer.ts';
import { type Gateway, startGateway } from '../../../../daemon/test/harness/gateway.ts';
import { newHome, putModel } from '../../../../daemon/test/harness/home.ts';
import { send } from '../../../../daemon/test/harness/http.ts';
import { type LlamaServer, startLlamaServer } from '../../../../daemon/test/harness/llama-server.ts';
import type { Case, Pair } from './cases.ts';
import { type ResponseSnapshot, responseSnapshot } from './response-snapshot.ts';

const CONTEXT = 512;
const PARALLEL = 2;
/** Processes documents and long texts in one batch: the default of the server is smaller than the context. */
const BATCH = ['-b', '2048', '-ub', '2048'];

/** The text of a tool call of such models. A grammar that forces a call allows nothing else. */
const CALL = ['<tool_call>', '\n{"name": "get_time", "arguments": {"zone":', '"UTC"}}\n</tool', '_call>'];

const PAIRS: Record<Pair, { type: SlotRecord['type']; model: () => GgufModel; extra: readonly string[] }> = {
  chat: { type: 'llm', model: () => tinyChat(), extra: [] },
  plain: { type: 'llm', model: () => tinyChat({ template: CHATML, script: CALL }), extra: [] },
  vectors: { type: 'embedding', model: () => tinyEmbed(), extra: ['--embeddings', ...BATCH] },
  ranks: { type: 'rerank', model: () => tinyRerank(), extra: ['--rerank', ...BATCH] },
  closed: { type: 'rerank', model: () => tinyRerank({ closed: true }), extra: ['--rerank', ...BATCH] },
  judge: {
    type: 'rerank',
    model: () => tinyRerank({ template: '[CLS]is this {query}? {document}[SEP]' }),
    extra: ['--rerank', ...BATCH],
  },
};

/** A gateway with every model on the embedded engine, and a llama-server for each model file. */
export interface EnginePairs {
  theirs(testCase: Case): Promise<ResponseSnapshot>;
  ours(testCase: Case): Promise<ResponseSnapshot>;
  stop(): Promise<void>;
}

export async function startPairs(program: string): Promise<EnginePairs> {
  const home = newHome();
  const files: Record<string, string> = {};
  const servers = new Map<Pair, LlamaServer>();
  for (const [id, { type, model, extra }] of Object.entries(PAIRS) as [Pair, (typeof PAIRS)[Pair]][]) {
    const path = putModel(home, id, model());
    const slot = id === 'chat' ? 'agent' : id;
    files[`config/slots/${slot}.toml`] =
      `type = "${type}"\nmodel = "${id}"\ncontext = ${CONTEXT}\nparallel = ${PARALLEL}\n`;
    const shape = { path, id, context: CONTEXT, parallel: PARALLEL };
    servers.set(id, await startLlamaServer(program, shape, extra));
  }
  const gateway = await startGateway({ home, files });
  return {
    theirs: (testCase) => requestSnapshot(servers.get(testCase.pair) as LlamaServer, testCase),
    ours: (testCase) => requestSnapshot(gateway, testCase),
    stop: () => stopAll(gateway, [...servers.values()]),
  };
}

async function requestSnapshot(to: { port: number }, { pair, path, body }: Case): Promise<ResponseSnapshot> {
  const headers = { 'content-type': 'application/json' };
  const sent = typeof body === 'string' ? body : { model: pair, ...body };
  const answer = await send(to, 'POST', path, { body: sent, headers });
  return responseSnapshot(answer.status, answer.headers['content-type'], answer.text);
}

async function stopAll(gateway: Gateway, servers: readonly LlamaServer[]): Promise<void> {
  await Promise.all([gateway.stop(), ...servers.map((server) => server.stop())]);
  gateway.remove();
}
