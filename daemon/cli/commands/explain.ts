import { headroomOf } from '../../contract/memory-headroom.ts';
import {
  abandonedText,
  balanceText,
  beyondText,
  chatText,
  failoverText,
  fallbackText,
  usedFallbackText,
} from '../../contract/routing-texts.ts';
import type { LoadForecastView, MemorySumView } from '../../contract/slots.ts';
import type { ExplainView } from '../../contract/system.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { hintOf } from '../hints.ts';
import { json, plain } from '../output.ts';
import { table } from '../table.ts';

const CHAT = '/v1/chat/completions';

/** Shows how a request would be routed. Nothing is sent or loaded. */
export async function explain({ client, flags, out }: CommandContext, model?: string): Promise<number> {
  const path = flags.path ?? CHAT;
  const view = await client.call<ExplainView>('dispatch.explain', {
    path,
    ...(model ? { model } : {}),
    ...(flags.allowFallback ? { allow_fallback: true } : {}),
  });
  out(flags.json ? json(view) : explainText(view));
  return view.error === null ? EXIT.ok : EXIT.failed;
}

function explainText(view: ExplainView): string {
  const rows = view.steps.map(({ step, outcome, reason }, index) => [
    `${index + 1} ${step}`,
    outcome === 'matched' ? '=>' : outcome === 'skipped' ? '' : '-',
    reason,
  ]);
  const alias = view.alias === null ? '' : ` (${view.alias.kind} of ${view.alias.target})`;
  const subject = `${view.model ?? 'no model'}${alias} on ${view.path}${view.lane === null ? '' : `, for slot ${view.lane}`}`;
  return `${plain(subject)}\n\n${rows.length > 0 ? `${table(['STEP', '', 'REASON'], rows)}\n` : ''}${plain(verdict(view))}\n${memoryLines(view)}`;
}

/** The memory sum of each load that would be made, one line each. */
function memoryLines({ slot, load, after }: ExplainView): string {
  const attempts = [{ slot, load }, ...after];
  return attempts
    .flatMap(({ slot: name, load: forecast }) => (forecast === null ? [] : [sumLine(name, forecast)]))
    .join('');
}

function sumLine(slot: string | null, { outcome, evicts, sum }: LoadForecastView): string {
  const evicted = evicts.length > 0 ? `; ${evicts.join(', ')} would be unloaded` : '';
  return `  ${slot}: needs ${formatBytes(sum.needed)}, ${headroomLine(sum)} (${outcome}${evicted})\n`;
}

/** For a load that does not fit: the memory left for it, which may be far less than what is free. */
function headroomLine(sum: MemorySumView): string {
  if (sum.short === 0) return `${formatBytes(sum.free)} free in pool ${sum.pool}`;
  const headroom = headroomOf(sum);
  const where = headroom.isLimitedBySetting
    ? `below slots.memory_limit in pool ${sum.pool}`
    : `for it in pool ${sum.pool}`;
  return `${formatBytes(headroom.bytes)} left ${where}, ${formatBytes(sum.short)} short`;
}

function verdict(view: ExplainView): string {
  const { slot, upstream, error, would_load, queue_position, balance } = view;
  const textOf = (parts: readonly (string | null)[]) =>
    parts.map((text) => (text === null ? '' : ` ${text}`)).join('');
  if (error !== null)
    return `Refused: ${error.message}${hintOf(error.message, error.details)} (${error.code})${textOf([fallbackText(view)])}`;
  const rest = textOf([chatText(view), beyondText(view), failoverText(view), fallbackText(view)]);
  const used = usedFallbackText(view);
  if (used !== null) return `${used}${rest}`;
  if (upstream !== null)
    return `Goes to upstream ${upstream}${balance === null ? '' : `: ${balanceText(balance)}`}.${rest}`;
  const notes = [
    ...(view.shares_engine_of ? [`with the engine of slot ${view.shares_engine_of}`] : []),
    ...(would_load ? ['its model would be loaded first'] : []),
    ...(queue_position > 0 ? [`position ${queue_position} in its queue`] : []),
  ];
  const abandoned = textOf([abandonedText(view.abandoned)]);
  return `Goes to slot ${slot}${notes.length > 0 ? `; ${notes.join(', ')}` : ''}.${abandoned}${rest}`;
}
