import { ADDRESS_WORDS, appName } from '../../contract/caller-info.ts';
import { conversationText } from '../../contract/conversation-texts.ts';
import type {
  RequestDetailView,
  RequestRecord,
  RequestsView,
  RequestWholeView,
} from '../../contract/system.ts';
import type { CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { clock, count, duration } from '../format.ts';
import { json, plain } from '../output.ts';
import { fields, fitted, table } from '../table.ts';

/** The end of an id is unique; its beginning is the time. */
const SHORT_ID_LENGTH = 8;
const FULL_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;
const MAX_ROWS = 1_000;

export async function list({ client, flags, out, width }: CommandContext): Promise<number> {
  const query = {
    state: flags.state,
    limit: flags.limit ?? '50',
    before: flags.before,
  };
  const view = await client.call<RequestsView>('requests', undefined, { query });
  const ended = byStart([...view.recent, ...view.refused]).slice(0, Number(query.limit));
  const all = [...view.running, ...ended];
  if (flags.json) out(json(view));
  else if (all.length === 0) out('No request yet.\n');
  else out(requestTable(all, width, new Date()));
  return EXIT.ok;
}

/** Newest first. Refused requests come in a separate list. */
const byStart = (rows: readonly RequestRecord[]): RequestRecord[] =>
  rows.toSorted((a, b) => b.at.localeCompare(a.at));

/** Columns of a terminal from which there is space for the app. */
const WIDE = 110;

function requestTable(all: readonly RequestRecord[], width: number, now: Date): string {
  const hasErrors = all.some(({ error }) => error !== null);
  const isWide = width >= WIDE;
  const rows = all.map((each) => [
    each.id.slice(-SHORT_ID_LENGTH),
    clock(new Date(each.at), now),
    each.route.replace(/^\/v1\//, ''),
    each.model ?? each.asked ?? '-',
    each.slot ?? each.upstream ?? '-',
    each.status === null ? 'running' : String(each.status),
    duration(each.ttft_ms),
    duration(each.duration_ms),
    `${count(each.prompt_tokens)}/${count(each.completion_tokens)}`,
    ...(isWide ? [appName(each) ?? '-'] : []),
    ...(hasErrors ? [each.error ?? ''] : []),
  ]);
  const head = ['ID', 'TIME', 'ROUTE', 'MODEL', 'SLOT', 'STATUS', 'FIRST', 'TOTAL', 'IN/OUT'];
  const more = [...(isWide ? ['APP'] : []), ...(hasErrors ? ['ERROR'] : [])];
  return fitted([...head, ...more], rows, {
    width,
    shrink: [2, 3, 4, ...more.map((_, at) => head.length + at)],
  });
}

/**
 * Returns the full id for a short one from the list. Throws CliError when no recent request has it, or more
 * than one.
 */
async function wholeId({ client }: CommandContext, id: string): Promise<string> {
  if (FULL_ID.test(id)) return id;
  const query = { limit: String(MAX_ROWS) };
  const { running, recent, refused } = await client.call<RequestsView>('requests', undefined, { query });
  const found = [...running, ...recent, ...refused].filter((each) => each.id.endsWith(id));
  if (found.length === 1) return found[0]?.id ?? id;
  const why = found.length === 0 ? 'no recent request has' : 'more than one request has';
  throw new CliError(
    `${why} an id that ends in ${id}; see svcctl requests, or --json for whole ids`,
    EXIT.failed,
  );
}

export async function show(context: CommandContext, shortId: string): Promise<number> {
  const id = await wholeId(context, shortId);
  const each = await context.client.call<RequestWholeView>('request', undefined, { params: { id } });
  context.out(context.flags.json ? json(each) : requestFields(each) + stepsText(each) + bodiesText(each));
  return EXIT.ok;
}

/** The dispatch steps of the request, each with its reason. */
function stepsText({ story }: RequestDetailView): string {
  if (story === null || story.steps.length === 0) return '';
  return `\n${table(
    ['STEP', 'OUTCOME', 'REASON'],
    story.steps.map(({ step, outcome, reason }) => [step, outcome, reason]),
  )}`;
}

/** Request and response texts, if stored. */
function bodiesText({ bodies }: RequestWholeView): string {
  const parts = [
    ['REQUEST', bodies?.request],
    ['RESPONSE', bodies?.answer],
  ] as const;
  return parts.map(([title, text]) => (text ? `\n${title}\n${plain(text)}\n` : '')).join('');
}

function waitedText({ story }: RequestDetailView): string | null {
  const waits = story?.waits;
  if (!waits) return null;
  const parts = [
    ['memory', waits.memory_ms],
    ['load', waits.load_ms],
    ['queue', waits.queue_ms],
  ] as const;
  const waited = parts.filter(([, ms]) => ms > 0).map(([what, ms]) => `${duration(ms)} for ${what}`);
  return waited.length === 0 ? 'not at all' : waited.join(', ');
}

function beforeText({ story }: RequestDetailView): string | null {
  if (!story || story.before.length === 0) return null;
  return story.before
    .map(({ slot, upstream, error }) => `${slot ?? upstream} (${error ?? 'changed'})`)
    .join(', ');
}

function requestFields(each: RequestDetailView): string {
  const lines: Record<string, string | null> = {
    Id: each.id,
    Started: clock(new Date(each.at), new Date()),
    Route: each.route,
    Tier: each.tier,
    App: appName(each),
    'User-Agent': each.user_agent,
    From: each.address === null ? null : ADDRESS_WORDS[each.address],
    Requested: each.asked,
    Model: each.model,
    Slot: each.slot,
    Upstream: each.upstream,
    'Chosen by': each.step,
    'Tried first': beforeText(each),
    Waited: waitedText(each),
    Degraded: each.story?.degraded ?? null,
    Conversation: each.story?.conversation ? conversationText(each.story.conversation) : null,
    Status: each.status === null ? 'running' : String(each.status),
    Error: each.error,
    Message: each.message,
    Reason: each.reason,
    'First byte': each.ttft_ms === null ? null : duration(each.ttft_ms),
    Total: each.duration_ms === null ? null : duration(each.duration_ms),
    Tokens: `${count(each.prompt_tokens)} in, ${count(each.completion_tokens)} out`,
  };
  const shown = Object.entries(lines).filter((line): line is [string, string] => line[1] !== null);
  return fields(Object.fromEntries(shown));
}

export async function cancel(context: CommandContext, shortId: string): Promise<number> {
  const id = await wholeId(context, shortId);
  const each = await context.client.call<RequestRecord>('request.cancel', undefined, { params: { id } });
  const ends = each.state === 'running' || each.error === 'request.cancelled';
  const outcome = ends ? 'is cancelled' : 'had already ended';
  context.out(context.flags.json ? json(each) : `Request ${each.id} ${outcome}.\n`);
  return EXIT.ok;
}
