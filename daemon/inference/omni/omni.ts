import { GatewayError } from '../../contract/errors.ts';
import { newRequestId } from '../../lib/request-id.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ParentOutcome } from '../../telemetry/request-tracker.ts';
import type { InferenceCall } from '../call-context.ts';
import { callArguments, type Json } from '../dialects/json.ts';
import { newId } from '../dialects/new-id.ts';
import { createRoutingView, type RoutingSources } from '../dispatch/routing-view.ts';
import { CallScope, CLIENT_CLOSED, ClientDisconnected } from '../forward/call-scope.ts';
import { failureText } from '../forward/failure-text.ts';
import type { InternalReply } from '../internal.ts';
import type { BodyIndex } from '../rewrite/body-index.ts';
import type { Inference } from '../serve.ts';
import { type AvailableTool, availableTools, canCall, isForbidden, toFunction } from './available-tools.ts';
import { holdsFiles, OmniFiles } from './files.ts';
import { HiddenRounds } from './hidden-rounds.ts';
import { type OmniRequest, parseOmniRequest, tryScanBody } from './omni-request.ts';
import { bufferedEmitter, type ResponseEmitter, streamEmitter } from './response-emitter.ts';
import { addUsage, type Round, readRound } from './round.ts';
import { runTool, skippedCall, type ToolCall, type ToolResult } from './run-tool.ts';
import type { ToolDeps } from './tool.ts';

export interface OmniDeps {
  readonly inference: Pick<Inference, 'chat' | 'internal' | 'reportedModels' | 'recordRefusal'>;
  readonly memory: Pick<Memory, 'add' | 'search'>;
  readonly settings: Pick<Settings, 'value'>;
  readonly sources: Pick<RoutingSources, 'slots' | 'registry' | 'upstreams' | 'names'>;
}

/** Maximum rounds of one call; the last one has no tools. */
const MAX_ROUNDS = 8;
/** Maximum calls of one round that are run. */
const MAX_CALLS = 16;
const LIMIT_TEXT = `The limit of ${MAX_ROUNDS} rounds of tool calls is reached.`;
const CHAT = '/v1/chat/completions';

/** The context of one loop. */
interface LoopContext {
  readonly deps: OmniDeps;
  readonly call: InferenceCall;
  readonly request: OmniRequest;
  readonly emitter: ResponseEmitter;
  readonly available: ReadonlyMap<string, AvailableTool>;
  readonly tools: ToolDeps;
  readonly hiddenRounds: HiddenRounds;
  readonly messages: Json[];
  /** Number of messages that the caller sent; the gateway added the rest. */
  readonly sentCount: number;
}

/**
 * Serves chats, and for those that opt in (`omni: true`) the tool loop: runs the gateway's tools and returns
 * their results to the model; returns calls of the caller's own tools to the caller. Throws a GatewayError
 * before the head is sent.
 */
export function createOmni(deps: OmniDeps): { chat(call: InferenceCall): Promise<void> } {
  const hiddenRounds = new HiddenRounds();
  return {
    chat(call) {
      const index = tryScanBody(call.body);
      if (index === null) return deps.inference.chat(call);
      call.bodyIndex = index;
      const request = parseRequest(deps, call, index);
      return request === null ? deps.inference.chat(call) : runLoop(deps, hiddenRounds, call, request);
    },
  };
}

function parseRequest({ inference }: OmniDeps, call: InferenceCall, index: BodyIndex): OmniRequest | null {
  try {
    return parseOmniRequest(call.body, index);
  } catch (failure) {
    inference.recordRefusal(call, failure);
    throw failure;
  }
}

async function runLoop(
  deps: OmniDeps,
  hiddenRounds: HiddenRounds,
  call: InferenceCall,
  request: OmniRequest,
): Promise<void> {
  const scope = new CallScope(call.res);
  const over = Promise.withResolvers<ParentOutcome | null>();
  let end: ParentOutcome | null = null;
  const emitter = request.stream
    ? streamEmitter(call.res, newRequestId(), request.includeUsage)
    : bufferedEmitter(call.res, newRequestId());
  try {
    const parent = { cancel: (reason: GatewayError) => scope.end(reason), outcome: over.promise };
    await runRounds(prepareLoop(deps, { ...call, parent }, request, emitter, hiddenRounds, scope.signal));
  } catch (error) {
    const failure = scope.endReason ?? error;
    end = reportFailure(emitter, failure);
    if (!end.reportedInBand && !(failure instanceof ClientDisconnected)) throw failure;
  } finally {
    over.resolve(end);
    emitter.dispose();
    scope.dispose();
  }
}

/** Reports a failure to the caller, unless the route does so. Returns the outcome. */
function reportFailure(emitter: ResponseEmitter, failure: unknown): ParentOutcome {
  if (failure instanceof ClientDisconnected) return { ...CLIENT_CLOSED, reportedInBand: false };
  const known = failure instanceof GatewayError ? failure : new GatewayError('internal', { cause: failure });
  const reported = emitter.fail(known);
  return {
    status: reported ? 200 : known.status,
    error: known.code,
    failure: failureText(known),
    reportedInBand: reported,
  };
}

function prepareLoop(
  deps: OmniDeps,
  call: InferenceCall,
  request: OmniRequest,
  emitter: ResponseEmitter,
  hiddenRounds: HiddenRounds,
  signal: AbortSignal,
): LoopContext {
  const { tier } = call;
  const view = createRoutingView({ ...deps.sources, npuSuffix: () => deps.settings.value('npuSuffix') });
  const has = {
    audio: holdsFiles(request.messages, 'input_audio'),
    image: holdsFiles(request.messages, 'image_url'),
  };
  const may = (route: AvailableTool['tool']['route']) => canCall(deps.settings, route, tier);
  const available =
    request.choice === 'none'
      ? new Map()
      : availableTools(
          {
            view,
            requestedModel: request.model,
            attached: has,
            reportedModels: deps.inference.reportedModels,
          },
          request.names,
          may,
        );
  const files = new OmniFiles();
  const kinds = new Set<'audio' | 'image'>();
  if (available.has('transcribe_audio')) kinds.add('audio');
  if (available.has('describe_image')) kinds.add('image');
  const messages = files.extract(hiddenRounds.restore(request.messages, tier), kinds);
  const { internal } = deps.inference;
  const tools = { internal, memory: deps.memory, tier, caller: call.caller, signal, files };
  return {
    deps,
    call,
    request,
    emitter,
    available,
    tools,
    hiddenRounds,
    messages,
    sentCount: messages.length,
  };
}

async function runRounds(loop: LoopContext): Promise<void> {
  const { emitter, messages, tools } = loop;
  let usage: Json = {};
  for (let number = 1; ; number++) {
    const answer = await queryModel(loop, number);
    if (number === 1) {
      if (answer.status >= 300) return relayResponse(loop, answer);
      emitter.open(answer.headers);
    }
    const round = await readRound(answer, emitter, () => newId('call'));
    usage = addUsage(usage, round.usage);
    const { ours, own } = partitionCalls(loop, round.calls);
    const over = number >= MAX_ROUNDS;
    const ran = over ? [] : await runCalls(loop, ours);
    tools.signal.throwIfAborted();
    messages.push(assistantMessage(round, over ? own : round.calls), ...ran.map(toolMessage));
    if (own.length > 0) storeHiddenRounds(loop, own);
    if (own.length === 0 && ran.length > 0) continue;
    const limited = over && own.length === 0 && (ours.length > 0 || round.text.trim() === '');
    if (limited && round.text.trim() === '') await emitter.text('text', LIMIT_TEXT);
    const finish = limited ? 'length' : finishOf(round, own);
    emitter.end({ finish, calls: own, usage, rounds: number, limited });
    return;
  }
}

const finishOf = ({ finish }: Round, own: readonly ToolCall[]): string => {
  if (own.length > 0) return 'tool_calls';
  return finish === 'tool_calls' ? 'stop' : finish;
};

/** Runs the first calls of a round in parallel. Each of the others gets an error as its result. */
function runCalls(loop: LoopContext, calls: readonly ToolCall[]): Promise<ToolResult[]> {
  const skip = (call: ToolCall): ToolResult => {
    const skipped = skippedCall(call, MAX_CALLS);
    loop.emitter.toolCalled(call);
    loop.emitter.toolFinished(skipped);
    return skipped;
  };
  return Promise.all(calls.map((call, at) => (at < MAX_CALLS ? runOne(loop, call) : skip(call))));
}

/** Relays the response of a refused first round unchanged. */
async function relayResponse(
  { call: { res } }: LoopContext,
  { status, headers, body }: InternalReply,
): Promise<void> {
  res.writeHead(status, { ...headers });
  for await (const chunk of body) res.write(chunk);
  res.end();
}

function queryModel({ deps, call, request, available, messages, tools }: LoopContext, number: number) {
  const all = [...request.tools, ...[...available.values()].map(toFunction)];
  const last = number >= MAX_ROUNDS;
  // A required call has been made by the second round.
  const choice = last ? 'none' : number === 1 || request.choice === 'none' ? request.choice : undefined;
  const body = {
    ...request.base,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(all.length > 0 && { tools: all }),
    ...(all.length > 0 && choice !== undefined && { tool_choice: choice }),
  };
  return deps.inference.internal({
    ...(number === 1 ? { id: call.id, parent: call.parent } : { id: newRequestId() }),
    path: CHAT,
    tier: call.tier,
    caller: call.caller,
    body: Buffer.from(JSON.stringify(body)),
    signal: tools.signal,
    // Rounds are always streamed; a caller without a stream still waits like one without a stream.
    waitsAsStream: request.stream,
    ...(call.req.headers['x-svc-priority'] === 'batch' && { priority: 'batch' as const }),
  });
}

/** Separates calls of the caller's tools. The gateway answers calls of unknown tools with an error. */
function partitionCalls({ request, available }: LoopContext, calls: readonly ToolCall[]) {
  const own = calls.filter(({ name }) => request.names.has(name) && !available.has(name));
  return { own, ours: calls.filter((call) => !own.includes(call)) };
}

async function runOne(
  { deps, available, call, emitter, request, tools }: LoopContext,
  toolCall: ToolCall,
): Promise<ToolResult> {
  emitter.toolCalled(toolCall);
  const may = (route: AvailableTool['tool']['route']) => canCall(deps.settings, route, call.tier);
  const known = {
    names: [...request.names, ...available.keys()],
    isForbidden: isForbidden(toolCall.name, may),
  };
  const ran = await runTool(available.get(toolCall.name), toolCall, known, tools);
  // A tool that ran in parallel may have ended the response: nothing may follow its last event.
  tools.signal.throwIfAborted();
  emitter.toolFinished(ran);
  return ran;
}

/**
 * Returns the model's message for the next round. Engines refuse a chat with a call whose arguments are
 * invalid.
 */
const assistantMessage = ({ text, thoughts }: Round, calls: readonly ToolCall[]): Json => ({
  role: 'assistant',
  ...thoughts,
  content: text,
  ...(calls.length > 0 && {
    tool_calls: calls.map(({ id, name, arguments: args, extra }) => ({
      id,
      type: 'function',
      function: { name, arguments: callArguments(args) ?? '{}' },
      ...(extra && { extra_content: extra }),
    })),
  }),
});

const toolMessage = ({ call, content }: ToolResult): Json => ({
  role: 'tool',
  tool_call_id: call.id,
  content,
});

/** Stores the hidden rounds of this response until the caller returns the results of its own tools. */
function storeHiddenRounds(
  { hiddenRounds, call, messages, sentCount }: LoopContext,
  own: readonly ToolCall[],
): void {
  const hidden = messages.slice(sentCount);
  if (hidden.length > 1 || own.some(({ extra }) => extra !== undefined))
    hiddenRounds.store(
      own.map(({ id }) => id),
      call.tier,
      hidden,
    );
}
