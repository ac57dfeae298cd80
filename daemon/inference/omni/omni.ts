import { GatewayError } from '../../contract/errors.ts';
import { newRequestId } from '../../lib/request-id.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Settings } from '../../settings/settings.ts';
import type { WholeEnd } from '../../telemetry/request-tracker.ts';
import { newId } from '../dialects/chat-pieces.ts';
import { callArguments, type Json } from '../dialects/json.ts';
import { type PictureSources, takePicture } from '../dispatch/routing-view.ts';
import { CallerLeft, LEFT, Life } from '../forward/call-scope.ts';
import type { InternalAnswer } from '../internal.ts';
import type { BodyPicture } from '../rewrite/body-index.ts';
import type { Inference, InferenceCall } from '../serve.ts';
import { type OmniAsk, pictureOf, readOmni } from './ask.ts';
import { asFunction, mayCall, type Offered, offer } from './available-tools.ts';
import { holdsFiles, OmniFiles } from './files.ts';
import { Carried } from './hidden-rounds.ts';
import { streamTeller, type Teller, wholeTeller } from './response-emitter.ts';
import { addUsage, type Round, readRound } from './round.ts';
import { type Ran, runTool, type ToolCall } from './run-tool.ts';
import type { ToolDeps } from './tool.ts';

export interface OmniDeps {
  readonly inference: Pick<Inference, 'chat' | 'internal' | 'draws' | 'refused'>;
  readonly memory: Pick<Memory, 'add' | 'search'>;
  readonly settings: Pick<Settings, 'value'>;
  readonly sources: Pick<PictureSources, 'slots' | 'registry' | 'upstreams'>;
}

/** Rounds of one call at most; the last one is asked without tools. */
const MOST_ROUNDS = 8;
const CHAT = '/v1/chat/completions';

/** One loop under way. */
interface Loop {
  readonly deps: OmniDeps;
  readonly call: InferenceCall;
  readonly ask: OmniAsk;
  readonly teller: Teller;
  readonly offered: ReadonlyMap<string, Offered>;
  readonly tools: ToolDeps;
  readonly carried: Carried;
  readonly messages: Json[];
  /** Messages that the caller sent; what stands behind them is ours. */
  readonly sent: number;
}

/**
 * Chats, and for those that opt in (`omni: true`) the tool loop: tools of the gateway are run here and their results
 * given to the model, calls of the caller's own tools go back to it. Throws a GatewayError while no head is out.
 */
export function createOmni(deps: OmniDeps): { chat(call: InferenceCall): Promise<void> } {
  const carried = new Carried();
  return {
    chat(call) {
      const picture = pictureOf(call.body);
      if (picture === null) return deps.inference.chat(call);
      call.picture = picture;
      const ask = asked(deps, call, picture);
      return ask === null ? deps.inference.chat(call) : runLoop(deps, carried, call, ask);
    },
  };
}

function asked({ inference }: OmniDeps, call: InferenceCall, picture: BodyPicture): OmniAsk | null {
  try {
    return readOmni(call.body, picture);
  } catch (failure) {
    inference.refused(call, failure);
    throw failure;
  }
}

async function runLoop(deps: OmniDeps, carried: Carried, call: InferenceCall, ask: OmniAsk): Promise<void> {
  const life = new Life(call.res);
  const over = Promise.withResolvers<WholeEnd | null>();
  let end: WholeEnd | null = null;
  const teller = ask.stream
    ? streamTeller(call.res, newRequestId(), ask.includeUsage)
    : wholeTeller(call.res, newRequestId());
  try {
    const whole = { cancel: (reason: GatewayError) => life.end(reason), ended: over.promise };
    await rounds(prepared(deps, { ...call, whole }, ask, teller, carried, life.signal));
  } catch (error) {
    const failure = life.ended ?? error;
    end = ending(teller, failure);
    if (!end.told && !(failure instanceof CallerLeft)) throw failure;
  } finally {
    over.resolve(end);
    teller.dispose();
    life.dispose();
  }
}

/** Tells the caller of a failure as far as that is not left to the door; how it ended by that. */
function ending(teller: Teller, failure: unknown): WholeEnd {
  if (failure instanceof CallerLeft) return { ...LEFT, told: false };
  const known = failure instanceof GatewayError ? failure : new GatewayError('internal', { cause: failure });
  const told = teller.fail(known);
  return { status: told ? 200 : known.status, error: known.code, told };
}

function prepared(
  deps: OmniDeps,
  call: InferenceCall,
  ask: OmniAsk,
  teller: Teller,
  carried: Carried,
  signal: AbortSignal,
): Loop {
  const { tier } = call;
  const picture = takePicture({ ...deps.sources, npuSuffix: () => deps.settings.value('npuSuffix') });
  const has = {
    audio: holdsFiles(ask.messages, 'input_audio'),
    image: holdsFiles(ask.messages, 'image_url'),
  };
  const may = (route: Offered['tool']['route']) => mayCall(deps.settings, route, tier);
  const offered =
    ask.choice === 'none'
      ? new Map()
      : offer({ picture, asked: ask.model, has, draws: deps.inference.draws }, ask.names, may);
  const files = new OmniFiles();
  const kinds = new Set<'audio' | 'image'>();
  if (offered.has('transcribe_audio')) kinds.add('audio');
  if (offered.has('describe_image')) kinds.add('image');
  const messages = files.take(carried.restore(ask.messages, tier), kinds);
  const tools = { internal: deps.inference.internal, memory: deps.memory, tier, signal, files };
  return { deps, call, ask, teller, offered, tools, carried, messages, sent: messages.length };
}

async function rounds(loop: Loop): Promise<void> {
  const { teller, messages, tools } = loop;
  let usage: Json = {};
  for (let number = 1; ; number++) {
    const answer = await askModel(loop, number);
    if (number === 1) {
      if (answer.status >= 300) return relay(loop, answer);
      teller.open(answer.headers);
    }
    const round = await readRound(answer, teller, () => newId('call'));
    usage = addUsage(usage, round.usage);
    const { ours, own } = sorted(loop, round.calls);
    const over = number >= MOST_ROUNDS;
    const ran = over ? [] : await Promise.all(ours.map((each) => runOne(loop, each)));
    tools.signal.throwIfAborted();
    messages.push(said(round, over ? own : round.calls), ...ran.map(toolMessage));
    if (own.length > 0) keep(loop, own);
    if (own.length === 0 && ran.length > 0) continue;
    teller.end({ finish: finishOf(round, own), calls: own, usage, rounds: number });
    return;
  }
}

const finishOf = ({ finish }: Round, own: readonly ToolCall[]): string => {
  if (own.length > 0) return 'tool_calls';
  return finish === 'tool_calls' ? 'stop' : finish;
};

/** A first round that is refused: the caller gets the very answer. */
async function relay({ call: { res } }: Loop, { status, headers, body }: InternalAnswer): Promise<void> {
  res.writeHead(status, { ...headers });
  for await (const chunk of body) res.write(chunk);
  res.end();
}

function askModel({ deps, call, ask, offered, messages, tools }: Loop, number: number) {
  const all = [...ask.tools, ...[...offered.values()].map(asFunction)];
  const last = number >= MOST_ROUNDS;
  // A call that must be made has been made by the second round.
  const choice = last ? 'none' : number === 1 || ask.choice === 'none' ? ask.choice : undefined;
  const body = {
    ...ask.base,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(all.length > 0 && { tools: all }),
    ...(all.length > 0 && choice !== undefined && { tool_choice: choice }),
  };
  return deps.inference.internal({
    ...(number === 1 ? { id: call.id, whole: call.whole } : { id: newRequestId() }),
    path: CHAT,
    tier: call.tier,
    body: Buffer.from(JSON.stringify(body)),
    signal: tools.signal,
    // Rounds are always read as streams; who asked for a whole answer still waits as for one.
    waitsAsStream: ask.stream,
    ...(call.req.headers['x-svc-priority'] === 'batch' && { priority: 'batch' as const }),
  });
}

/** Which calls are of the caller's tools; one of no tool at all is answered by us with an error. */
function sorted({ ask, offered }: Loop, calls: readonly ToolCall[]) {
  const own = calls.filter(({ name }) => ask.names.has(name) && !offered.has(name));
  return { own, ours: calls.filter((call) => !own.includes(call)) };
}

async function runOne({ deps, offered, call, teller, tools }: Loop, made: ToolCall): Promise<Ran> {
  teller.calling(made);
  const may = ({ tool }: Offered) => mayCall(deps.settings, tool.route, call.tier);
  const ran = await runTool(offered.get(made.name), made, tools, may);
  // A tool beside it may have ended the answer already: nothing may follow its last event.
  tools.signal.throwIfAborted();
  teller.ran(ran);
  return ran;
}

/** What the model said, for the next round. Engines refuse a chat with a call whose arguments they cannot read. */
const said = ({ text, thoughts }: Round, calls: readonly ToolCall[]): Json => ({
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

const toolMessage = ({ call, content }: Ran): Json => ({ role: 'tool', tool_call_id: call.id, content });

/** What the caller does not see of this answer waits for the results of its own tools. */
function keep({ carried, call, messages, sent }: Loop, own: readonly ToolCall[]): void {
  const hidden = messages.slice(sent);
  if (hidden.length > 1 || own.some(({ extra }) => extra !== undefined))
    carried.keep(
      own.map(({ id }) => id),
      call.tier,
      hidden,
    );
}
